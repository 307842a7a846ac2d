import json
import pickle

import numpy as np
import pytest
from commands import ovaflow
from estimators.corpus import GERMAN_TEXTS as TEXTS
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from solving import assert_same_bits, train_shard

from ovaflow import OneVsAllClassifier, TextFeatures
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.settings.prepare import Prepare, resolve_blocks
from ovaflow.sparse.csr import from_scipy

BLOCKS = ["words", "pairs", {"prefixes": 4}, {"stems": "german"}, {"characters": [3, 4]}]
OPTIONS = [
    "--features=words",
    "--features=pairs",
    "--features=prefixes=4",
    "--features=stems=german",
]


@parametrize_with_checks([TextFeatures()])
def test_check(estimator, check) -> None:
    check(estimator)


def write_texts(folder, part, texts, labels=None) -> str:
    """Write a file of texts and labels; return the option of ``ovaflow prepare`` that reads it."""
    if labels is None:
        labels = [[f"label{i % 4}"] for i in range(len(texts))]
    lines = [f"{','.join(row)}\t{text}\n" for row, text in zip(labels, texts, strict=True)]
    (folder / f"{part}.tsv").write_text("".join(lines))
    return f"--{part}={folder / part}.tsv"


def prepare(folder, *options) -> Dataset:
    """Prepare a dataset of files of texts."""
    ovaflow("prepare", "--format=text-tsv", options, f"--output={folder}/dataset.h5")
    return open_dataset(folder / "dataset.h5")


@pytest.mark.parametrize("words", ["plain", "symbols"])
def test_same_bits_as_those_of_prepare(tmp_path, words) -> None:
    new = [*TEXTS[:7], "Salzwasser", ""]
    theirs = prepare(
        tmp_path,
        write_texts(tmp_path, "train", TEXTS),
        write_texts(tmp_path, "test", new),
        *OPTIONS,
        "--features=characters=3-4",
        "--stop-words=german",
        f"--words={words}",
        "--bias=0",
    )
    ours = TextFeatures(features=BLOCKS, stop_words="german", words=words)
    X = ours.fit_transform(iter(TEXTS))
    assert ours.get_feature_names_out().tolist() == theirs.feature_names
    assert "und" not in theirs.feature_names
    X_test = clone(ours).fit(TEXTS).transform(new)
    for found, split in ((X, theirs.train), (X_test, theirs.test)):
        assert_array_equal(found.data, split.X.data)
        assert_array_equal(found.indices, split.X.indices)
        assert_array_equal(found.indptr, split.X.indptr)
    again = pickle.loads(pickle.dumps(ours)).transform(TEXTS)
    assert (again != X).nnz == 0


def test_names_of_labels_make_the_models_of_the_pipeline(tmp_path) -> None:
    labels = []
    for text in TEXTS:
        topics = ["see" if "See" in text else "hügel"]
        if "Salz" in text:
            topics.append("xyz")
        labels.append(topics)
    dataset = prepare(
        tmp_path,
        write_texts(tmp_path, "train", TEXTS, labels),
        write_texts(tmp_path, "test", TEXTS, labels),
    )
    features = TextFeatures()
    # "see" is in more than half of the texts
    assert dataset.train.X.n_rows - dataset.n_documents == 1
    theirs = train_shard(dataset, initialization="mean-separating").weights.to_scipy()
    model = OneVsAllClassifier().fit(
        features.fit_transform(TEXTS), labels, label_features=features.transform
    )
    assert_same_bits(model.model_.weights, from_scipy(theirs))
    plain = OneVsAllClassifier().fit(features.transform(TEXTS), labels).model_.weights
    assert (plain.to_scipy() != theirs).nnz > 0


def test_auto_chooses_the_blocks_that_the_command_chooses(tmp_path) -> None:
    # whether a text is about the north or the south, only pairs of its words tell
    draw = np.random.default_rng(0)
    pairs = draw.permutation(["north wind", "wind north", "south wind", "wind south"] * 75)
    texts = [f"{pair} {' '.join(f'w{word}' for word in draw.integers(0, 40, 4))}" for pair in pairs]
    labels = [[pair.split()[0], "wind" if "south" in pair else "air"] for pair in pairs]
    files = write_texts(tmp_path, "train", texts, labels), f"--output={tmp_path}/chosen.json"
    ovaflow("choose-features", "--format=text-tsv", files, "--no-label-names")
    theirs = json.loads((tmp_path / "chosen.json").read_text())["chosen"].split("+")
    assert "pairs" in theirs
    model = make_pipeline(TextFeatures(features="auto"), OneVsAllClassifier()).fit(texts, labels)
    assert model[0].features_ == theirs
    assert model[0].features == "auto"
    assert TextFeatures(features=BLOCKS).fit(TEXTS).features_ == Prepare(features=BLOCKS).features
    fixed = TextFeatures(features=theirs)
    assert (fixed.fit_transform(texts) != model[:-1].transform(texts)).nnz == 0


WRONG = [
    (["wurds"], (TEXTS,), "wurds is not a block of features"),
    ("auto", (TEXTS,), r"features: auto is for the pipeline, and for fit\(texts, labels\)"),
    ("auto", (TEXTS, ["a"]), "inconsistent numbers of samples"),
    ("words", ("a text",), "found a single text"),
    ("words", (np.array([["a", "b"]]),), "found a table"),
    (
        "words",
        ([["sea"], ["hill"]], TEXTS),
        r"a text is \['sea'\], expected a string; the order is fit\(texts, labels",
    ),
]


@pytest.mark.parametrize(("features", "given", "message"), WRONG)
def test_wrong_parameters_and_texts_are_refused(features, given, message) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        TextFeatures(features=features).fit(*given)


def test_settings_and_defaults_are_those_of_the_config() -> None:
    ours = TextFeatures().get_params()
    features = list(ours.pop("features"))
    # the estimator knows no labels
    assert features == resolve_blocks(Prepare().features, has_vocabulary=False)
    assert ours == {name: Prepare.model_fields[name].default for name in ours}
