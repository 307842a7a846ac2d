"""Pareto front against a slow reference, figures of few and of equal runs, and what jobs took."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from ovaflow.report.costs import Point, pareto, read_jobs, show_resources, show_trade_offs
from ovaflow.report.drawing import logarithmic

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=30))
def test_pareto_front_against_all_pairs(points):
    ours = [points[place] for place in pareto([Point(None, *point) for point in points])]

    def beaten(cost, quality):
        return any((c <= cost and q >= quality) and (c, q) != (cost, quality) for c, q in points)

    assert ours == sorted({point for point in points if not beaten(*point)})


def run(name, series, seconds, precision):
    metrics = {"train_seconds": seconds, "train_peak_rss_bytes": 1 << 20}
    metrics |= {} if precision is None else {"P@1": precision}
    return SimpleNamespace(name=name, series=series, metrics=metrics, predict_milliseconds=0.0)


def shown(*runs):
    return show_trade_offs("mine", SimpleNamespace(runs=list(runs), shown=[each for each in runs if each.series == 0]))


@pytest.mark.parametrize("times", [(1.0, 1.0), (1e-6, 1e9)])
def test_what_is_not_known_or_zero_is_left_out(times):
    assert shown(run("only", 0, 1.0, 0.5), run("not measured", 1, 1.0, None)) is None
    drawing, memory = shown(run("$a$ <b>", 0, times[0], 0.5), run("b", None, times[1], 0.5))["figures"]
    assert [drawing.name, memory.name] == ["mine.against-training", "mine.against-memory"]
    assert drawing.columns == ["series", "training, core-seconds", "P@1 in %", "Pareto front"]
    assert [row[1:] for row in drawing.rows] == [[times[0], 50.0, "yes"], [times[1], 50.0, "no"]]
    assert drawing.caption.endswith("Best: $a$ <b>.")
    assert "$a$ &lt;b&gt;" in drawing.svg
    assert "<b>" not in drawing.svg


def test_runs_that_no_other_beats_are_named():
    drawing = shown(run("a", 0, 1.0, 0.5), run("b", 0, 2.0, 0.6), run("c", 0, 3.0, 0.5))["figures"][0]
    assert drawing.caption.endswith("from cheap to accurate: a, b.")


@pytest.mark.parametrize("limits", [(0.098, 0.196), (14, 24), (0.9, 5.1), (2e-7, 3e3), (1.1e6, 1.9e6)])
def test_a_logarithmic_axis_has_numbers(limits):
    axes = Figure().add_subplot()
    axes.set(xscale="log", xlim=limits)
    logarithmic(axes.xaxis)
    seen = [place for place in axes.get_xticks() if limits[0] <= place <= limits[1]]
    written = [label.get_text() for label in axes.xaxis.get_ticklabels() if label.get_text()]
    assert len(seen) >= 2
    assert len(set(written)) == len(written)


def write_benchmark(path, seconds, memory="300.0", cpu="1.5"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + f"{seconds}\t0:00:01\t{memory}\t-\t-\t-\t1.0\tNA\t99\t{cpu}\n")


def test_resources_of_each_step(tmp_path):
    write_benchmark(tmp_path / "mine" / "means.tsv", 0.5, memory="-", cpu="NA")
    for shard in range(3):
        write_benchmark(tmp_path / "mine" / "msi" / f"train-shard.{shard}.tsv", 2 + shard, memory=f"{100 + shard}")
    jobs = read_jobs([tmp_path / "results" / "mine" / "msi"], tmp_path)
    tables = show_resources("mine", SimpleNamespace(jobs=jobs))
    # jobs, wall time, CPU time, longest, peak memory, read, written
    figures = [
        [1, 0.5, None, 0.5, None, 1 << 20, None],
        [3, 9.0, 4.5, 4.0, 102 << 20, 3 << 20, None],
        [4, 9.5, 4.5, 4.0, 102 << 20, 4 << 20, None],
    ]
    for by, names in (("run", ["shared by all runs", "msi"]), ("step", ["means", "train shard"])):
        rows = [(row.name, [cell.value for cell in row.cells]) for row in tables[f"by_{by}"].rows]
        assert rows == list(zip([*names, "these jobs together"], figures, strict=True))


def test_downloads_and_jobs_of_the_second_training_are_apart(tmp_path):
    names = "means.tsv", "msi/merge.tsv", "held-out-0.2/means.tsv", "held-out-0.2/msi/merge.tsv", "../download/mine.tsv"
    names += ("fold-1-of-2/msi/plan.tsv", "fold-2-of-2/held-out-0.2/msi/merge.tsv")
    for path in names:
        write_benchmark(tmp_path / "mine" / path, 1)
    jobs = read_jobs([tmp_path / "mine" / name for name in ("msi", "dismec")], tmp_path)
    shared, again = [("", "download"), ("", "means")], [("held-out-0.2", "means"), ("held-out-0.2", "merge")]
    again += [("fold-*", "plan"), ("fold-*", "merge")]
    assert [(each.run, each.step) for each in jobs] == [*shared, ("msi", "merge"), *again]
    assert all(len(each.figures) == 1 for each in jobs)
