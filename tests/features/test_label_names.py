"""Names of labels as training instances: their features, and the steps that leave them out."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import open_dataset
from ovaflow.dataset.hold_out import hold_out
from ovaflow.dataset.prepare import prepare
from ovaflow.records.source import SourceFiles
from ovaflow.settings.prepare import ChooseFeatures, PrepareSource
from ovaflow.settings.train import ChooseC, TrainLabels
from ovaflow.training.shard_job import train_model
from ovaflow.tuning.cost import choose_C
from ovaflow.tuning.features import choose_features

TEXTS = [
    "the red dragon sleeps",
    "a red dragon wakes",
    "blue whales sing at night",
    "old blue whales sleep at night",
]
LABELS = ["0", "0,1", "1", "2"]
COUNTS = [60, 60, 30, 0]
NAMES = ["Dragons (red)", "blue whales", "Quasars", "at night"]
SETTINGS = {
    "format": "text-tsv",
    "min_df": 1,
    "max_df": 1.0,
    "features": ["words"],
    "label_names": False,
}


@pytest.fixture
def sources(tmp_path):
    """A source without, and one with names of labels among its training instances."""
    texts = tmp_path / "texts.tsv"
    labels = tmp_path / "labels.txt"
    labels.write_text("\n".join(NAMES))
    lines = []
    for number in range(30):
        for label_ids, text in zip(LABELS, TEXTS, strict=True):
            lines.append(f"{label_ids}\t{text} {number}\n")
    texts.write_text("".join(lines))
    settings = [PrepareSource(**SETTINGS | {"label_names": named}) for named in (False, True)]
    return [SourceFiles(each, texts, texts, labels=labels) for each in settings]


@pytest.fixture
def dataset(sources, tmp_path):
    prepare(sources[1]).write(tmp_path / "named.h5")
    return open_dataset(tmp_path / "named.h5")


def test_names_are_the_last_training_instances(sources) -> None:
    plain = prepare(sources[0])
    ours = prepare(sources[1])
    n = plain.train.X.n_rows
    assert ours.parameters["named_labels"] == len(ours.train.norms) - n == 3
    assert ours.parameters["source"]["counts"]["label_names_without_features"] == 1
    assert ours.feature_names == plain.feature_names
    X = ours.train.X.to_scipy()
    Y = ours.train.Y.to_scipy()
    assert (X[:n] != plain.train.X.to_scipy()).nnz == 0
    assert (Y[:n] != plain.train.Y.to_scipy()).nnz == 0
    # nothing in the texts is a quasar
    assert Y[n:].toarray().tolist() == np.eye(4)[[0, 1, 3]].tolist()
    words = []
    for row in range(n, X.shape[0]):
        # the last feature is the bias
        words.append({ours.feature_names[feature] for feature in X[[row]].indices[:-1]})
    assert words == [{"red"}, {"blue", "whales"}, {"at", "night"}]
    assert np.allclose(X[n:, :-1].power(2).sum(axis=1), 1)


def test_a_label_without_instances_is_trained_on_its_name(dataset) -> None:
    without = dataset.documents
    assert without.train.X.n_rows == 120
    for part, trained, positives in (
        (dataset, [True] * 4, [61, 61, 30, 1]),
        (without, [True] * 3 + [False], COUNTS),
    ):
        model = train_model(part, TrainLabels(), 0.0)
        assert model.trained.tolist() == trained
        assert model.counts.tolist() == COUNTS
        assert part.positives.to_scipy().sum(axis=1).tolist() == positives


def test_names_are_not_held_out(dataset) -> None:
    part = hold_out(dataset, 0.4)
    assert part.n_documents + part.test.X.n_rows == 120
    assert part.train.X.n_rows == part.n_documents + 3
    assert part.test.X.n_rows > 10


def test_choices_are_made_with_names_and_on_texts(dataset, sources) -> None:
    assert choose_C(dataset, ChooseC(), ChooseC(candidates=[1.0, 3.0]))["instances"] == 120
    settings = ChooseFeatures(
        **SETTINGS | {"label_names": True, "candidates": ["words", "words+pairs"]}
    )
    found = choose_features(replace(sources[1], settings=settings), settings)
    assert found["instances"] == 120
    assert {entry["candidate"] for entry in found["candidates"]} == {"words", "words+pairs"}


def test_numbers_are_not_in_a_vocabulary_and_the_file_that_names_them_is(
    real_data, tmp_path
) -> None:
    folder = real_data / "kirjastonhoitaja"
    settings = PrepareSource(format="text-tsv")
    (tmp_path / "yso.tsv").write_bytes(gzip.decompress((folder / "labels.txt.gz").read_bytes()))
    files = {name: folder / f"{name}_raw.tsv.gz" for name in ("train", "test")}
    with pytest.raises(
        InputError,
        match=r"by URI or name; .* get their names from labels: FILE, without vocabulary",
    ):
        prepare(SourceFiles(settings, **files, vocabulary=tmp_path / "yso.tsv"))
    ours = prepare(SourceFiles(settings, **files, labels=folder / "labels.txt.gz"))
    # README.txt of the data
    assert ours.parameters["source"]["counts"]["train_without_labels"] == 0
    assert len(ours.label_names) == 3955
