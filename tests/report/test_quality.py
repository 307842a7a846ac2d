"""Metrics in order, and published results next to them."""

import pytest

from ovaflow.console.errors import InputError
from ovaflow.report.quality import metric_columns, read_published, results_for

HEADER = "dataset\tmethod\tP@1\tP@3\tP@5\tsource\tnote\n"


def test_metric_columns_in_order():
    metrics = [{"recall@1": 0, "P@10": 0, "P@5": 0, "macro-F1@5": 0, "instances": 3}, {"nDCG@1": 0}]
    assert [name for name, _, _ in metric_columns(metrics)] == ["P@5", "P@10", "nDCG@1", "recall@1"]
    assert [name for name, _, _ in metric_columns(metrics, further=True)] == ["macro-F1@5"]


def test_published_results(tmp_path):
    path = tmp_path / "published.tsv"
    lines = 'bibtex\tA\t62.62\t39.09\t28.79\tpage\t\nbibtex\tB\t90.3\t\t\t"table 2\tk = 50\nother\tC\t1\t2\t3\tx\n'
    path.write_text(HEADER + lines)
    entries = results_for(read_published(path), "Bibtex")
    assert [entry.method for entry in entries] == ["B", "A"]
    assert entries[0].metrics == {"P@1": pytest.approx(0.903)}
    assert (entries[0].source, entries[0].note) == ('"table 2', "k = 50")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name\tvalue\n", "line 1"),
        (HEADER + "a\tb\tx\t\t\t\t\n", "line 2"),
        (HEADER + "a\tb\t1\t2\t3\t4\t5\t6\n", "line 2"),
        ("", "line 1"),
        ("\xff", "not valid UTF-8"),
        (None, "no such file"),
    ],
)
def test_published_results_that_do_not_fit(tmp_path, text, said):
    path = tmp_path / "published.tsv"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=said):
        read_published(path)
