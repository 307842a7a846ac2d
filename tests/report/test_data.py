"""The section on data: counts, sources, features and settings in words."""

import numpy as np
import pytest

from ovaflow.dataset.dataset import open_dataset
from ovaflow.report.data import describe_features, describe_source
from ovaflow.report.gather import gather_results
from ovaflow.results.settings_in_words import flatten_settings


def test_card_counts(runs) -> None:
    summary = gather_results(runs)[0].data
    dataset = open_dataset(runs[0].parent / "dataset.h5")
    Y = dataset.train.Y.to_scipy().toarray()
    figures = {title: (figure, remark) for title, figure, remark in summary.facts}
    np.testing.assert_array_equal(summary.counts, Y.sum(axis=0))
    assert figures["labels"] == ("40", f"{(Y.sum(axis=0) == 0).sum()} without training positives")
    assert figures["training instances"][1].startswith(
        f"{(Y.sum(axis=1) == 0).sum()} have no label"
    )
    features = dataset.train.X.to_scipy().toarray()[:, :-1] != 0
    for name, matrix in (("labels", Y), ("nonzeros", features)):
        ours = float(figures[f"{name} per instance"][0])
        assert ours == pytest.approx(matrix.sum(axis=1).mean(), abs=0.005)


def test_sources_features_and_settings_in_words() -> None:
    file = {"name": "a.txt", "sha256": "f" * 64, "bytes": 2048}
    source = {
        "format": "csv",
        "files": {"test_labels": file},
        "counts": {"tokens": 12345, "pairs": 0, "test_instances": 7},
    }
    source["counts"]["python"] = "3.11.7"  # of the built-in dataset
    assert list(describe_source(source)) == [
        ("format", "csv"),
        ("test labels", "a.txt, 2.00 KiB, sha256 " + "f" * 64),
        ("tokens", "12,345"),
        ("python", "3.11.7"),
    ]
    settings = {
        "tfidf": True,
        "min_df": 2,
        "max_df": 0.5,
        "sublinear": True,
        "normalize": True,
        "bias": 1.0,
    }
    words = describe_features(settings)
    assert words == (
        "tf-idf, vocabulary and idf from the training set only (ln(1 + tf), terms in at least 2 of "
        "the training texts, in at most 50 % of them); rows scaled to unit length; bias feature of "
        "value 1"
    )
    symbols = settings | {"words": "symbols"}
    assert describe_features(symbols) == words.replace("(ln", "(words with symbols, ln")
    names = {"source": {"counts": {"label_names_without_features": 0}}}
    assert describe_features(settings | names) == f"{words}; labels also learn from their names"
    assert (
        describe_features({}) == "feature values as in the source; rows not scaled; no bias feature"
    )
    nested = {"train": {"C": 1.0, "t": -2.0}, "prune": 0.01, "x": None}
    assert dict(flatten_settings(nested)) == {"C": "1", "t": "-2", "prune": "0.01", "x": "none"}


def test_losses_by_a_value_of_a_setting_are_no_settings_named_by_a_number() -> None:
    nested = {"train": {"C": 1.0, "held_out_losses": {"0.5": 1.82, "1": 1.79}}}
    theirs = {"C": "1", "held_out_losses 0.5": "1.82", "held_out_losses 1": "1.79"}
    assert dict(flatten_settings(nested)) == theirs
