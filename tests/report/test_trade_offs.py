"""Pareto front against a slow reference, and figures of few and of equal runs."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.report import trade_offs


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=30))
def test_pareto_front_against_all_pairs(points):
    ours = [points[place] for place in trade_offs.pareto(points)]

    def beaten(cost, quality):
        return any((c <= cost and q >= quality) and (c, q) != (cost, quality) for c, q in points)

    assert ours == sorted({point for point in points if not beaten(*point)})


def run(name, series, seconds, precision):
    metrics = {} if precision is None else {"P@1": precision}
    return SimpleNamespace(
        name=name,
        series=series,
        metrics=metrics,
        train_seconds=seconds,
        model_bytes=None,
        predict_milliseconds_per_instance=0.0,
        peak_rss_bytes=1 << 20,
    )


def shown(*runs):
    section = SimpleNamespace(runs=list(runs), shown=[each for each in runs if each.series is not None])
    return trade_offs.show("mine", section)


def test_one_run_has_nothing_to_be_weighed_against():
    assert shown(run("only", 0, 1.0, 0.5)) is None
    assert shown(run("only", 0, 1.0, 0.5), run("not measured", 1, 1.0, None)) is None


@pytest.mark.parametrize("times", [(1.0, 1.0), (1e-6, 1e9)])
def test_what_is_not_known_or_zero_is_left_out(times):
    figures = shown(run("$a$ <b>", 0, times[0], 0.5), run("b", None, times[1], 0.5))["figures"]
    assert [drawing.name for drawing, _ in figures] == ["mine.against-training", "mine.against-memory"]
    drawing, _ = figures[0]
    assert drawing.columns == ["series", "training, core-seconds", "P@1 in %", "Pareto front"]
    assert [row[1:3] for row in drawing.rows] == [[times[0], 50.0], [times[1], 50.0]]
    assert "$a$ &lt;b&gt;" in drawing.svg
    assert "<b>" not in drawing.svg
