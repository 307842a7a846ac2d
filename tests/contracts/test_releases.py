"""Artifacts of the last release open, and predict what they did then; releases/make keeps those of the next one."""

import re
import tarfile

import numpy as np
import pytest
from commands import labels_of, ovaflow, read_answers
from contracts.test_artifacts import OF_NAMES
from docs.pages import ROOT

from ovaflow.prediction.predictions import Predictions
from ovaflow.storage.hdf5 import kind_of

RELEASES = ROOT / "tests" / "contracts" / "releases"
NAMES = [path.name.removesuffix(".tar.xz") for path in RELEASES.glob("*.tar.xz")]
MODELS = ["named/one-vs-all", "tiny/fastxml", "tiny/one-vs-all", "tiny/rembrandt"]
OPENED_BY_COMMANDS = "dataset", "model", "reranker"


@pytest.fixture(scope="module", params=NAMES)
def release(request, tmp_path_factory):
    """The results that a release wrote."""
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(RELEASES / f"{request.param}.tar.xz") as archive:
        # Python 3.11.0 to 3.11.3 have no filters
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder / "results"


def test_those_of_the_last_release_are_here():
    released = re.findall(r"^## \[(\d\S*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert released[0] in NAMES, "run tests/contracts/releases/make with that release on PATH"


@pytest.mark.parametrize("model", MODELS)
def test_texts_get_the_same_answers(release, tmp_path, model):
    folder = release / model
    ovaflow("predict", folder / "model.h5", folder / "asked.csv", f"--output={tmp_path / 'answers.jsonl'}")
    ours, theirs = read_answers(tmp_path / "answers.jsonl"), read_answers(folder / "answers.jsonl")
    assert labels_of(ours) == labels_of(theirs)
    for one, other in zip(labels_of(ours, "score"), labels_of(theirs, "score"), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("model", MODELS[1:])
def test_the_dataset_gets_the_same_predictions(release, tmp_path, model):
    files = release / model / "model.h5", f"--dataset={release}/tiny/dataset.h5"
    ovaflow("predict", *files, f"--output={tmp_path / 'predictions.h5'}")
    ours, theirs = Predictions.open(tmp_path / "predictions.h5"), Predictions.open(release / model / "predictions.h5")
    np.testing.assert_array_equal(ours.ids, theirs.ids)
    np.testing.assert_allclose(ours.scores, theirs.scores, rtol=1e-5)


def test_every_file_opens(release):
    """What training begins with as well: an upgrade need not repeat it."""
    others = {each.kind: each for each in OF_NAMES.values() if each.kind not in OPENED_BY_COMMANDS}
    opened = set()
    for path in release.rglob("*.h5"):
        kind = kind_of(path, *OPENED_BY_COMMANDS, *others)
        opened.add(kind)
        if kind in others:
            assert others[kind].open(path).checksum
    assert opened >= {*OPENED_BY_COMMANDS, "means", "shard", "training", "predictions", "embedding", "tree-shard"}
