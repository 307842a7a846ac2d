"""What the page shows is computed right."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.model.training_file import Training
from ovaflow.prediction.predictions_file import read_predictions, write_predictions
from ovaflow.report import analysis, examples
from ovaflow.report.dataset_card import provenance, transform_words
from ovaflow.report.gather import gather
from ovaflow.report.run import flatten, read_metrics
from ovaflow.report.training import histogram, summarise
from ovaflow.solver.problem import Status
from ovaflow.storage.texts import write_json


def test_groups_of_the_analysis_add_up_to_the_metrics(runs):
    for run in gather(runs)[0].runs:
        for groups in (run.analysis.groups, run.analysis.deciles, run.analysis.bins):
            assert sum(group.part_of_precision for group in groups) == pytest.approx(run.metrics["P@5"], rel=1e-12)
            assert sum(group.part_of_psp for group in groups) == pytest.approx(run.metrics["PSP@5"], rel=1e-12)
            assert sum(group.hits for group in groups) == pytest.approx(run.metrics["P@5"] * run.n_test * run.k)


def test_an_analysis_of_another_model_is_passed_over(runs):
    path = runs[0] / "analysis.json"
    assert analysis.read_analysis(path, "another") is None
    assert analysis.read_analysis(path.parent / "none.json", "another") is None


@pytest.mark.parametrize("found", [{}, {"model": "x", "k": 5, "groups": [{}]}])
def test_a_foreign_analysis_is_named(tmp_path, found):
    write_json(tmp_path / "analysis.json", "analysis", found)
    with pytest.raises(InputError, match=r"no analysis of a run.*evaluate again"):
        analysis.read_analysis(tmp_path / "analysis.json", "x")


def test_card_counts(runs):
    card = gather(runs)[0].card
    dataset = open_dataset(runs[0].parent / "dataset.h5")
    Y = dataset.train.Y.to_scipy().toarray()
    figures = {title: (figure, remark) for title, figure, remark in card.facts}
    np.testing.assert_array_equal(card.counts, Y.sum(axis=0))
    assert figures["labels"] == ("40", f"{(Y.sum(axis=0) == 0).sum()} without training positives")
    assert figures["training instances"][1].startswith(f"{(Y.sum(axis=1) == 0).sum()} without labels")
    assert float(figures["labels per instance"][0]) == pytest.approx(Y.sum(axis=1).mean(), abs=0.005)
    nonzeros = (dataset.train.X.to_scipy().toarray()[:, :-1] != 0).sum(axis=1).mean()
    assert float(figures["nonzeros per instance"][0]) == pytest.approx(nonzeros, abs=0.005)


def test_training_statistics_are_honest():
    statistics = {
        "positives": np.array([3, 0, 1, 2]),
        "newton_steps": np.array([4, 0, 6, 8]),
        "cg_steps": np.array([8, 0, 10, 12]),
        "line_search_halvings": np.array([0, 0, 3, 0]),
        "seconds": np.array([0.1, 0.0, 0.1, 0.1]),
        "gradient_norm": np.array([0.5, 0.0, 3.0, np.nan]),
        "gradient_target": np.array([1.0, 0.0, 1.5, 1.0]),
        "status": np.array([Status.CONVERGED, Status.NO_POSITIVES, Status.LINE_SEARCH_FAILED, 77], np.int8),
    }
    ours = summarise(Training(statistics, 2.0, 1, 1 << 20))
    assert (ours.trained, ours.untrained, ours.reached, ours.above) == (3, 1, 1, 2)
    assert ours.endings == {"line search failed": 1, "status 77": 1}
    assert (ours.newton_per_label, ours.cg_per_label, ours.halvings_per_label) == (6, 10, 1)
    assert np.isnan(ours.worst_ratio)
    assert (ours.core_seconds, ours.shards, ours.peak_rss_bytes) == (2.0, 1, 1 << 20)
    assert histogram(ours.newton_steps, 7)[[4, 6, 7]] == pytest.approx([1 / 3] * 3)


def test_predictions_of_another_dataset_are_refused(runs, tmp_path):
    shutil.copytree(runs[0].parent, tmp_path / "mine")
    path = tmp_path / "mine" / "msi" / "predictions.h5"
    predictions = read_predictions(path)
    write_predictions(path, replace(predictions, inputs={"dataset": "of another"}))
    with pytest.raises(InputError, match="another dataset"):
        gather([path.parent])


def test_metrics_file_must_be_whole(tmp_path):
    for text in ("[1]", "{", "", '{"P@1": 0.5}'):
        (tmp_path / "metrics.json").write_text(text)
        with pytest.raises(InputError, match="not a metrics file, or damaged"):
            read_metrics(tmp_path / "metrics.json")


def test_examples_have_hits_and_misses_and_stay_the_same(runs):
    first, again = gather(runs)[0].examples, gather(runs)[0].examples
    assert first == again
    assert len(first) == 10
    marks = {prediction.hit for example in first for _, listed in example.predictions for prediction in listed}
    assert marks == {True, False}
    other = gather(runs, seed=1)[0].examples
    assert [example.row for example in other] != [example.row for example in first]


@given(st.integers(0, 2**32 - 1), st.integers(0, 30), st.integers(0, 15))
def test_choice_takes_each_kind_and_no_unlabelled_document(seed, n, wanted):
    random = np.random.default_rng(seed)
    n_true = random.integers(0, 4, n)
    hits = random.random((n, 5)) < 0.3
    hits &= np.cumsum(hits, axis=1) <= n_true[:, None]
    rows = examples.choose(hits, n_true, wanted)
    assert len(rows) == len(set(rows)) == min(wanted, (n_true > 0).sum())
    assert (n_true[rows] > 0).all()
    assert (np.diff(rows) > 0).all()
    found, possible = hits.sum(axis=1), np.minimum(n_true, 5)
    kinds = np.select([found == 0, found < possible], [0, 1], 2)
    if wanted >= 3:
        assert set(kinds[rows]) == set(kinds[n_true > 0])


def test_provenance_is_flat_and_short():
    source = {
        "train": {"name": "a.txt", "sha256": "f" * 64, "bytes": 2048},
        "dropped": {"empty": 12345},
        "of": ["a", "b"],
    }
    assert provenance(source) == [
        ("train", "a.txt, 2.00 KiB, sha256 " + "f" * 64),
        ("dropped · empty", "12,345"),
        ("of", "a, b"),
    ]


def test_transform_in_words():
    words = transform_words(
        {"tfidf": True, "min_df": 2, "max_df": 0.5, "sublinear": True, "normalize": True, "bias": 1.0}
    )
    assert "ln(1 + tf), terms in at least 2 of the training texts, in at most 50 % of them" in words
    assert words.endswith("rows scaled to unit length; bias feature of value 1")
    assert transform_words({}) == "feature values as given; rows not scaled; no bias feature"


def test_nested_settings_become_flat():
    assert flatten({"train": {"C": 1.0, "t": -2.0}, "prune": 0.01, "x": None}) == [
        ("C", "1"),
        ("t", "-2"),
        ("prune", "0.01"),
        ("x", "none"),
    ]
