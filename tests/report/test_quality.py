from types import SimpleNamespace

import numpy as np
import pytest

from ovaflow.console.errors import InputError
from ovaflow.evaluation.ranking import find_hits, precision, ratio_of_sums
from ovaflow.report.quality import (
    FAMILIES,
    FURTHER,
    count_assigned,
    metric_columns,
    read_published,
    remarks,
    results_for,
)
from ovaflow.sparse.csr import from_scipy

HEADER = "dataset\tmethod\tP@1\tP@3\tP@5\tsource\tnote\n"


def test_metric_columns_in_order():
    metrics = {"recall@1": 0, "P@10": 0, "P@5": 0, "macro-F1@5": 0, "instances": 3}, {"nDCG@1": 0}
    runs = [SimpleNamespace(metrics=each) for each in metrics]
    titles = [[f"{column.group}{column.title}" for column in metric_columns(runs, of)] for of in (FAMILIES, FURTHER)]
    assert titles == [["P@5", "P@10", "nDCG@1", "recall@1"], ["macro-F1@5"]]


def test_published_results(tmp_path):
    path = tmp_path / "published.tsv"
    lines = 'bibtex\tA\t62.62\t39.09\t28.79\tpage\t\nbibtex\tB\t90.3\t\t\t"table 2\tk = 50\nother\tC\t1\t2\t3\tx\n'
    path.write_text(HEADER + lines)
    entries = results_for(read_published(path), "Bibtex")
    assert [entry.method for entry in entries] == ["B", "A"]
    assert entries[0].metrics == {"P@1": pytest.approx(0.903)}
    assert (entries[0].source, entries[0].note) == ('"table 2', "k = 50")
    for text, message in (
        ("name\tvalue\n", "line 1"),
        (HEADER + "a\tb\tx\t\t\t\t\n", "line 2.*could not convert"),
        ("", "line 1: unknown columns"),
        ("\xff", "not valid UTF-8"),
    ):
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(InputError, match=message):
            read_published(path)


def test_remarks_against_sums_over_an_indicator():
    random = np.random.default_rng(0)
    # 1 to 6 are the labels that models know, 7 is in the data, 8 and 9 were left out of it
    assigned = (random.random((200, 10)) < 0.15) & (np.arange(10) > 0)
    ids = np.array([random.permutation(np.arange(1, 7))[:5] for _ in range(200)])
    Y, known, some = from_scipy(assigned[:, :8] * 1.0), np.isin(np.arange(8), range(1, 7)), assigned.any(axis=1)
    counts = {
        "test_labels_unknown_in_train": assigned[:, 8:].sum(),
        "test_with_unknown_labels_only": (some & ~assigned[:, :8].any(axis=1)).sum(),
    }
    dataset = SimpleNamespace(test=SimpleNamespace(Y=Y), parameters={"source": {"counts": counts}})
    hits = find_hits(ids, Y)
    metrics = {f"P@{k}": precision(hits, k) for k in (1, 3, 5)}
    metrics["recall@5"] = ratio_of_sums("recall@5", ids, hits, Y, None)
    run = SimpleNamespace(name="one", metrics=metrics)
    sentences = " ".join(remarks(SimpleNamespace(test=count_assigned(dataset, known), shown=[run])))

    right, possible = np.take_along_axis(assigned, ids, axis=1), assigned[:, 1:7].any(axis=1)
    n, none, total = possible.sum(), (~some).sum(), assigned.sum()
    theirs = "/".join(f"{100 * right[possible, :k].mean():.1f}" for k in (1, 3, 5))
    share, in_training = (100 * right.sum() / each for each in (total, assigned[:, 1:7].sum()))
    for said in (
        f"{200 - n} of 200 test instances",
        f"{none} have no label, {200 - n - none} only labels that no training",
        f"Among the other {n} P@1/3/5 is {theirs}.",
        f"{assigned[:, 7:].sum()} of the {total} labels assigned",
        f"of all labels assigned, {share:.1f} % are among the first five; of those in training, {in_training:.1f} %.",
    ):
        assert said in sentences


FIGURES = {"P@1": 0.5, "P@3": 0.3, "P@5": 0.2, "recall@5": 0.4, "instances": 200}


def remarks_on(*metrics):
    """Of runs on 200 instances, one of them without a label."""
    Y = from_scipy(np.eye(200, dtype=np.float32)[:, :199])
    dataset = SimpleNamespace(test=SimpleNamespace(Y=Y), parameters={})
    runs = [SimpleNamespace(name=f"run{number}", metrics=FIGURES | each) for number, each in enumerate(metrics)]
    return remarks(SimpleNamespace(test=count_assigned(dataset, np.ones(199, bool)), shown=runs))


@pytest.mark.parametrize("twins", [0, 1, 30])
def test_figures_without_near_twins(twins):
    without = {"without_near_twins": {"P@1": 0.4, "P@3": 0.2, "P@5": 0.1}}
    *said, recall = remarks_on({"instances_with_near_twin": twins} | without)
    assert recall.startswith("On average, the first five predictions contain 40.0 % of the labels")
    assert len(said) == 2 * (twins == 30)
    parts = "30 of 200 test instances (15.0 %) have a near", "other 170 P@1/3/5 is 40.0/20.0/10.0."
    assert all(part in sentence for part, sentence in zip(parts, said, strict=False))


def test_of_many_runs_the_first_and_the_best_are_named():
    (sentence,) = remarks_on(*({"P@1": quality, "recall@5": quality} for quality in (0.1, 0.2, 0.4, 0.3)))
    assert "predictions contain 10.0 % (run0), 40.0 % (run2) of the labels" in sentence
