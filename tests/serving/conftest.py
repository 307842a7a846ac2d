"""Two models of texts with hostile names, and a service of one of them."""

import csv
import random

import numpy as np
import pytest
from running_service import running_service

from ovaflow.cli import main
from ovaflow.prediction.calibration import Calibration, write_calibration
from ovaflow.prediction.predictor import Predictor

HOSTILE = [
    "<script>document.title='taken'</script>",
    '"><img src=x onerror="document.title=\'taken\'">',
    "{{7*7}}${7*7}<%= 7*7 %>",
    "\u202eright to left\u202c",
    "a\u0000b\tc\nd",
    "Größe \U0001f600 \U00020000",
    "'; DROP TABLE labels; --",
    "</script></style><b>bold",
    "javascript:document.title='taken'",
    "plain",
]
"""Names of labels."""


def write_texts(path, rows=240):
    """A table whose words tell the labels, among them words beyond ASCII and beyond 16 bits."""
    generator = random.Random(11)
    own = [[f"word{j}{i}" for i in range(4)] + [f"größe{j}", f"Ⅳx\U00010400{j}"] for j in range(len(HOSTILE))]
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", "labels"])
        for _ in range(rows):
            chosen = generator.sample(range(len(HOSTILE)), generator.randint(1, 2))
            words = [generator.choice(own[j]) for j in chosen for _ in range(5)]
            words += [f"filler{generator.randrange(25)}" for _ in range(6)]
            table.writerow([" ".join(words), "¦".join(HOSTILE[j] for j in chosen)])


def _run(folder, *arguments):
    assert main([argument.format(folder) for argument in arguments]) == 0


def _calibrate(model, path):
    labels = np.arange(len(HOSTILE), dtype=np.float32)
    numbers = 1 + labels, 0.1 * labels, 0.1 * labels - 0.5
    write_calibration(path, Calibration(*numbers, {}, {"model": Predictor.open(model).model.checksum}))


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Folder with a.h5 and its calibration a.calibration.h5, and with b.h5, another model of the same texts."""
    folder = tmp_path_factory.mktemp("served")
    write_texts(folder / "texts.csv")
    prepared = ["--format=csv", "--train={}/texts.csv", "--label-separator=¦"]
    _run(folder, "prepare", *prepared, "--output={}/dataset.h5")
    _run(folder, "means", "{}/dataset.h5", "--output={}/means.h5")
    _run(folder, "plan", "{}/dataset.h5", "--shards=1", "--output={}/shards.tsv")
    for name, weight in (("a", 1), ("b", 0.05)):
        inputs = ["{}/dataset.h5", "--means={}/means.h5", "--plan={}/shards.tsv", "--shard=0", f"--C={weight}"]
        _run(folder, "train-shard", *inputs, f"--output={{}}/shard-{name}.h5")
        written = [f"--output={{}}/{name}.h5", f"--statistics={{}}/training-{name}.h5"]
        _run(folder, "merge", f"{{}}/shard-{name}.h5", "--dataset={}/dataset.h5", *written)
    _calibrate(folder / "a.h5", folder / "a.calibration.h5")
    return folder


@pytest.fixture(scope="session")
def service(models, tmp_path_factory):
    """Model a with its calibration, two workers."""
    options = [f"--calibration={models / 'a.calibration.h5'}", "--workers=2"]
    options += ["--max-body=500000", "--max-text=2000", "--max-batch=16"]
    with running_service(tmp_path_factory.mktemp("service"), models / "a.h5", *options) as running:
        yield running


@pytest.fixture(scope="session")
def predictor(models):
    """The model that the service has."""
    return Predictor.open(models / "a.h5")
