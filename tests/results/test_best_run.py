"""The best run is that of the highest nDCG@5, else P@1, and of equal ones the first."""

from types import SimpleNamespace

import pytest

from ovaflow.results.best_run import choose_comparison_metric, find_best_run


def make_runs(**metrics_by_name: dict[str, float]) -> list[SimpleNamespace]:
    """Make runs with these metrics."""
    runs = []
    for name, metrics in metrics_by_name.items():
        runs.append(SimpleNamespace(name=name, metrics=metrics))
    return runs


@pytest.mark.parametrize(
    ("figures", "best", "metric"),
    [
        ({"a": {"P@1": 0.9, "nDCG@5": 0.3}, "b": {"P@1": 0.1, "nDCG@5": 0.4}}, "b", "nDCG@5"),
        ({"a": {"P@1": 0.5, "nDCG@5": 0.4}, "b": {"P@1": 0.9, "nDCG@5": 0.4}}, "a", "nDCG@5"),
        ({"a": {"P@1": 0.5, "nDCG@5": 0.4}, "b": {"P@1": 0.9}}, "b", "P@1"),
        ({"a": {"P@1": 0.5}, "b": {"P@1": 0.5}}, "a", "P@1"),
        ({"planned": {}, "a": {"P@1": 0.5}}, "a", "P@1"),
        ({"a": {"P@1": 0.5}, "b": {"instances": 3}}, "a", None),
    ],
)
def test_the_best_run(figures, best, metric) -> None:
    runs = make_runs(**figures)
    assert find_best_run(runs).name == best
    assert choose_comparison_metric([run for run in runs if run.metrics]) == metric


def test_there_is_no_best_run_without_metrics() -> None:
    assert find_best_run(make_runs(planned={})) is None
    assert find_best_run([]) is None
