"""A small results folder of two runs, made by the commands of the pipeline."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import ovaflow
from finished_run import RunFolder, make_run_with_every_method
from sklearn.feature_extraction.text import TfidfVectorizer

from ovaflow.dataset.dataset import Dataset, Split, open_dataset, write_dataset
from ovaflow.sparse.csr import from_scipy

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quoted\" & 'quoted' `{{ 7 * 7 }}` $x^2$",
    "مكتبة \u202edesrever\u202c",
    "nul\x00 and \x1b[31m and \ud800 alone",
    "very long " * 400,
    "",
    "</svg></style></script><b>bold",
]
"""Names of labels that must not alter the page."""

FORMULA = '=HYPERLINK("http://nowhere.invalid";"click")'
"""Name of the last label, which is always missed: a formula of spreadsheets."""

TRANSFORM = {
    "format": "text-tsv",
    "tfidf": True,
    "normalize": True,
    "bias": 1.0,
    "sublinear": True,
    "min_df": 2,
}
SOURCE = {
    "train": {"name": "<b>train.tsv</b>", "sha256": "0" * 64, "bytes": 123456},
    "dropped": {"empty_texts": 3},
}
N_TRAIN = 300
N_TEST = 120
N_LABELS = 40


def _make_text(random: np.random.Generator, labels: np.ndarray) -> str:
    """Make a text that has two words of each of its labels, and twelve others."""
    words = []
    for label in np.flatnonzero(labels):
        words += [f"topic{label}", f"topic{label}"]
    topics = " ".join(words)
    others = " ".join(f"word{word}" for word in random.zipf(1.5, 12) % 300)
    return f"{topics} {others}"


def _make_dataset(path: Path) -> Dataset:
    random = np.random.default_rng(0)
    n = N_TRAIN + N_TEST
    frequency = 0.5 / np.arange(1, N_LABELS + 1)
    labels = random.random((n, N_LABELS)) < frequency
    texts = [_make_text(random, row) for row in labels]
    texts[N_TRAIN] = '<img src="http://nowhere.invalid/x.png" onerror=alert(1)> ' + texts[N_TRAIN]
    labels[:N_TRAIN, -1] = False
    labels[N_TRAIN : N_TRAIN + 20, -1] = True
    ids = [f"<i>{row}</i>" for row in range(n)]
    vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True).fit(texts[:N_TRAIN])
    X = np.hstack([vectorizer.transform(texts).toarray(), np.ones((n, 1))])

    def make_split(rows: slice) -> Split:
        Y = labels[rows].astype(np.float32)
        return Split(from_scipy(X[rows]), from_scipy(Y), texts[rows], records=ids[rows])

    names = [f"label number {label}" for label in range(N_LABELS)]
    names[: len(HOSTILE)] = HOSTILE
    names[-1] = FORMULA
    write_dataset(
        path,
        make_split(slice(0, N_TRAIN)),
        make_split(slice(N_TRAIN, None)),
        names,
        vectorizer.get_feature_names_out(),
        TRANSFORM | {"source": SOURCE},
    )
    return open_dataset(path)


STEPS = """
means {dataset} --output={run}/means.h5
plan {dataset} --shards=1 --output={run}/shards.tsv
train-shard {dataset} --means={run}/means.h5 --plan={run}/shards.tsv --shard=0 {options} --output={run}/shard.h5
merge {run}/shard.h5 --dataset={dataset} --output={run}/model.h5 --statistics={run}/training.h5
predict {run}/model.h5 --dataset={dataset} --top-k=5 --output={run}/predictions.h5
evaluate {run}/predictions.h5 --dataset={dataset} --model={run}/model.h5 --training={run}/training.h5 {written}
"""


def _make_run(run: Path, dataset: Dataset, options: str) -> None:
    written = f"--output={run}/metrics.json --analysis={run}/analysis.json"
    steps = STEPS.format(dataset=dataset.path, run=run, options=options, written=written)
    for step in steps.strip().splitlines():
        ovaflow(step)


@pytest.fixture(scope="session")
def runs(tmp_path_factory) -> list[Path]:
    """Folders of two finished runs of a dataset: ``{dataset.h5, msi/..., dismec/...}``."""
    folder = tmp_path_factory.mktemp("results") / "mine"
    dataset = _make_dataset(folder / "dataset.h5")
    _make_run(folder / "msi", dataset, "--C=1 --initialization=mean-separating")
    _make_run(folder / "dismec", dataset, "--C=0.1 --initialization=zero")
    return [folder / "msi", folder / "dismec"]


@pytest.fixture(scope="session")
def runs_with_dev(runs, tmp_path_factory) -> list[Path]:
    """Two runs of a dataset, which also has a dev part: the first 40 test instances."""
    folder = tmp_path_factory.mktemp("with-dev") / "mine"
    original = open_dataset(runs[0].parent / "dataset.h5")
    dev = original.test.take(np.arange(40))
    replace(original, names_in_memory=original.names, dev=dev).write(folder / "dataset.h5")
    dataset = open_dataset(folder / "dataset.h5")
    paths = []
    for C in (0.1, 1):
        path = folder / f"msi.C-{C}"
        _make_run(path, dataset, f"--C={C} --initialization=zero")
        paths.append(path)
    return paths


@pytest.fixture(scope="session")
def finished(make_once) -> RunFolder:
    """Runs of every method, made once."""
    return make_run_with_every_method(make_once)
