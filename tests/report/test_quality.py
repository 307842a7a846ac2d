"""Metrics in order, and published results next to them."""

from types import SimpleNamespace

import pytest

from ovaflow.console.errors import InputError
from ovaflow.report.quality import FAMILIES, FURTHER, metric_columns, read_published, results_for

HEADER = "dataset\tmethod\tP@1\tP@3\tP@5\tsource\tnote\n"


def test_metric_columns_in_order():
    found = {"recall@1": 0, "P@10": 0, "P@5": 0, "macro-F1@5": 0, "instances": 3}, {"nDCG@1": 0}
    runs = [SimpleNamespace(metrics=metrics) for metrics in found]
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
    for text, said in (
        ("name\tvalue\n", "line 1"),
        (HEADER + "a\tb\tx\t\t\t\t\n", "line 2.*could not convert"),
        ("", "line 1: unknown columns"),
        ("\xff", "not valid UTF-8"),
    ):
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(InputError, match=said):
            read_published(path)
