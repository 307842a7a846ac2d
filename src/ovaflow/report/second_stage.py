"""What the second stage of the runs is worth, from reliability.json: parts of Quality, and a
section of its own.
"""

from functools import partial

from ovaflow.evaluation.metric import is_metric
from ovaflow.report import wording
from ovaflow.report.drawing import PAGE_COLOURS, draw_figure, draw_line
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.reranking.evidence.kinds import KINDS

MIN_LABELS_OF_BIN = 10  # of a range of probabilities that is shown
ASSIGNMENT_LEVELS = (0.5, 0.7, 0.8, 0.9)
"""Least probabilities of the table of what can be assigned without a person."""


def get_reliability(run):
    """Return what was measured of the second stage that made a run's predictions; empty where none
    did.
    """
    return run.reliability if run.reranked else {}


def draw_reliability(anchor, runs):
    """Draw the share of right labels by probability; None where no run has probabilities."""
    probable = [run for run in runs if get_reliability(run)]
    if not probable:
        return None
    title = "Labels that are right, by probability"
    caption = (
        "On the dashed line, probabilities mean what they say. "
        f"Groups of fewer than {MIN_LABELS_OF_BIN} labels are left out."
    )
    return {
        "runs": probable,
        "drawing": draw_figure(f"{anchor}.reliability", title, caption, _paint, probable),
    }


def _paint(axes, runs) -> None:
    axes.plot((0, 100), (0, 100), color=PAGE_COLOURS["muted"], linestyle=(0, (4, 3)), linewidth=1.1)
    for run in runs:
        bins = get_reliability(run)["probabilities"]["bins"]
        shown = [each for each in bins if each["predictions"] >= MIN_LABELS_OF_BIN]
        said = [100 * each["probability"] for each in shown]
        right = [100 * each["hits"] for each in shown]
        draw_line(axes, run, said, right, markevery=1)
    axes.set(
        xlabel="probability in %", ylabel="right of these in %", xlim=(-2, 102), ylim=(-2, 102)
    )


_one_digit = partial(wording.percent, digits=1)


def make_assignment_table(runs):
    """Make the table of labels that can be assigned without a person, all runs side by side; None
    without any.
    """
    columns = []
    for run in runs:
        rows = {row["probability"]: row for row in get_reliability(run).get("automatic", ())}
        if rows:
            columns += _columns_of(run, rows)
    title = "What can be assigned without a person"
    return (
        make_table(title, "labels of at least", columns, ASSIGNMENT_LEVELS, _row_of_level)
        if columns
        else None
    )


def _columns_of(run, rows):
    def figure(name):
        return lambda level: rows[level][name]

    return (
        Column(
            "right, %", figure("precision"), _one_digit, run.name, "of these labels", "fraction"
        ),
        Column(
            "found, %", figure("recall"), _one_digit, run.name, "of all true labels", "fraction"
        ),
        Column(
            "texts, %", figure("instances"), _one_digit, run.name, "that get a label", "fraction"
        ),
    )


def _row_of_level(level, cells):
    return Row(f"{100 * level:g} %", cells)


def show_second_stage(anchor, results):
    """Show the ways to answer of each run's second stage, and which evidence counts, or why it is
    not used.
    """
    runs = [run for run in results.runs if run.reliability]
    if not runs:
        return None
    used = [run for run in runs if run.reranked]
    by_score = [run for run in used if run.reliability["fitted"]["check"].get("order") == "score"]
    return {
        "unused": [run for run in runs if not run.reranked],
        "by_score": by_score,
        "quality": _quality(used),
        "evidence": _evidence([run for run in used if run not in by_score]),
    }


def _quality(runs):
    rows = []
    for run in runs:
        *firsts, fit = run.reliability["suggested"]
        answer = firsts[:5][-1]
        rows.append((run, "by score alone", run.metrics["first_stage"], run.first_stage_samples))
        first = f"first {answer['name']}"
        if run.by_probability:
            rows.append((run, f"by probability, {first}", run.metrics | answer, run.samples))
        else:
            # the answer is measured in the order of probability, the metrics are not
            metrics = {name: value for name, value in run.metrics.items() if is_metric(name)}
            rows.append((run, f"for macro-F1, {first}", metrics, run.samples))
            rows.append((run, f"by probability, {first}", answer, {}))
        rows.append((run, "labels that fit", fit, {"F1": run.samples["F1-fit"]}))
    return make_table("Quality with a second stage", "run", QUALITY_COLUMNS, rows, _row_of_way)


def _row_of_way(entry, cells):
    run, way, *_ = entry
    return Row(run.name, cells, run.series, way)


def _of_way(title, name, group="", text=wording.percent, unit="fraction"):
    def figure(entry):
        return entry[2].get(name)

    def sampled(entry):
        return entry[3].get(name)

    return Column(title, figure, text, group, unit=unit, samples=sampled)


_EACH = "means over test instances"
QUALITY_COLUMNS = (
    *(_of_way(name, name) for name in ("P@1", "P@3", "P@5", "nDCG@5")),
    _of_way("F1", "F1", _EACH),
    _of_way("precision", "P", _EACH),
    _of_way("recall", "R", _EACH),
    _of_way("labels", "labels", _EACH, wording.decimal, ""),
)


def _evidence(runs):
    columns = []
    sources = set()
    for run in runs:
        check = run.reliability["fitted"]["check"]
        hint = f"on {check['texts']:,} held-out instances"
        lost = check["lost"].get
        columns.append(
            Column(run.name, lost, _one_digit, "points of nDCG@5 lost", hint, "fraction")
        )
        sources |= check["lost"].keys()
    rows = [kind.name for kind in KINDS if kind.name in sources]
    rows += sorted(sources.difference(rows))
    return make_table("Worth of the evidence", "evidence", columns, rows, Row)


SECTION = ReportSection("second-stage", "Second stage", show_second_stage, folded=True)
