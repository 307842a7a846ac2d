"""The section on the second stage, from reliability.json and metrics.json."""

from functools import partial

from ovaflow.report import wording
from ovaflow.report.drawing import NAMED, FigureOfRuns, draw_all, line, series
from ovaflow.report.probabilities import automatic_table, sure_table
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.reranking.evidence import FURTHER, GROUPS
from ovaflow.storage.texts import read_json

FEWEST = 10  # labels of a range of probabilities that is shown


def read(run):
    """Content of a run's reliability.json; None where it is about other predictions, or no test label is known."""
    path = run.path / "reliability.json"
    if not (path.exists() and len(run.dataset.test.Y.indices)):
        return None
    measured = read_json(path, "reliability")
    return measured if run.predictions.inputs.get("reranker") == measured["reranker"] else None


def show(anchor, results):
    """What the second stage of each run is worth, and why it, or its order, is not used where it is not."""
    runs = [run for run in results.runs if "second-stage" in run.read]
    if not runs:
        return None
    used = [run for run in runs if run.reranked]
    by_score = [run for run in used if run.read["second-stage"]["fitted"]["check"].get("order") == "score"]
    shown = [run for run in used if run.series is not None]
    return {
        "runs": shown,
        "unused": [run for run in runs if not run.reranked],
        "by_score": by_score,
        "quality": _quality(used),
        "evidence": _evidence([run for run in used if run not in by_score]),
        "figures": draw_all(anchor, shown, FIGURES),
        "tables": [(run, *_by_probability(run), _lengths(run)) for run in shown],
    }


def _quality(runs):
    rows = []
    for run in runs:
        *firsts, fit = run.read["second-stage"]["suggested"]
        answer = firsts[:5][-1]
        rows.append((run, "by score alone", run.metrics["first_stage"], run.first_samples))
        first = f"first {answer['name']}"
        if run.by_probability:
            rows.append((run, f"by probability, {first}", run.metrics | answer, run.samples))
        else:
            # the answer is measured in the order of probability, the metrics are not
            metrics = {name: value for name, value in run.metrics.items() if "@" in name}
            rows.append((run, f"for macro-F1, {first}", metrics, run.samples))
            rows.append((run, f"by probability, {first}", answer, {}))
        rows.append((run, "labels that fit", fit, {"F1": run.samples["F1-fit"]}))
    return make_table("Quality with a second stage", "run", QUALITY, rows, _row_of_way)


def _row_of_way(entry, cells):
    run, way, *_ = entry
    return Row(run.name, cells, run.series, way)


def _of_way(title, name, group="", text=wording.percent, best=max, unit="fraction"):
    figure, sampled = lambda entry: entry[2].get(name), lambda entry: entry[3].get(name)
    return Column(title, figure, text, group, unit=unit, best=best, samples=sampled)


_EACH = "means over test instances"
QUALITY = (
    *(_of_way(name, name) for name in ("P@1", "P@3", "P@5", "nDCG@5")),
    _of_way("F1", "F1", _EACH),
    _of_way("precision", "P", _EACH, best=None),
    _of_way("recall", "R", _EACH, best=None),
    _of_way("labels", "labels", _EACH, wording.decimal, None, ""),
)
_one_digit = partial(wording.percent, digits=1)


def _evidence(runs):
    columns, sources = [], set()
    for run in runs:
        check = run.read["second-stage"]["fitted"]["check"]
        hint = f"on {check['texts']:,} held-out instances"
        lost = check["lost"].get
        columns.append(Column(run.name, lost, _one_digit, "points of nDCG@5 lost", hint, "fraction"))
        sources |= check["lost"].keys()
    rows = [kind for kind in (*GROUPS, *FURTHER) if kind in sources]
    rows += sorted(sources.difference(rows))
    return make_table("Worth of the evidence", "evidence", columns, rows, Row)


def _lengths(run):
    columns, lows = [], set()
    for group in run.read["second-stage"]["lengths"]:
        ranges = {each["from"]: each for each in group["ranges"] if each["labels"] >= FEWEST}
        lows.update(ranges)
        texts = f"{group['from']:,}–{group['to']:,} features"
        for title, name in (("said", "probability"), ("right", "right")):
            figure = partial(_figure, ranges, name)
            columns.append(Column(title, figure, _one_digit, texts, unit="fraction"))
    title = f"Probabilities of {run.name} by length of text"
    return make_table(title, "probability", columns, sorted(lows), _row_of_range)


def _figure(ranges, name, low):
    return ranges.get(low, {}).get(name)


def _row_of_range(low, cells):
    return Row(f"{100 * low:.0f}–{100 * low + 10:.0f} %", cells)


def _by_probability(run):
    measured = run.read["second-stage"]
    automatic = automatic_table(f"Labels of {run.name} by least probability", measured["automatic"])
    return automatic, sure_table(f"Records of {run.name} by expected precision", measured.get("sure", ()))


def _paint_reliability(axes, runs):
    axes.plot((0, 100), (0, 100), color=NAMED["muted"], linestyle=(0, (4, 3)), linewidth=1.1)
    for run in runs:
        bins = [each for each in run.read["second-stage"]["probabilities"]["bins"] if each["predictions"] >= FEWEST]
        x, y = [100 * each["probability"] for each in bins], [100 * each["hits"] for each in bins]
        line(axes, run, x, y, markevery=1)
    axes.set(xlabel="probability in %", ylabel="right of these in %", xlim=(-2, 102), ylim=(-2, 102))


def _paint_amounts(axes, runs):
    for run in runs:
        *firsts, fit = run.read["second-stage"]["suggested"]
        x, y = [entry["labels"] for entry in firsts], [100 * entry["F1"] for entry in firsts]
        line(axes, run, x, y, f"{run.name}, first labels", markevery=1)
        star = {"color": series(run.series), "marker": "*", "markersize": 13, "linestyle": "none"}
        axes.curve(f"{run.name}, labels that fit", [fit["labels"]], [100 * fit["F1"]], **star)
    axes.margins(y=0.15)
    axes.set(xlabel="labels suggested, mean", ylabel="F1 in %", xlim=(0, None))
    axes.set_ylim(bottom=0)


FIGURES = (
    FigureOfRuns(
        "reliability",
        "Labels that are right, by probability",
        "On the dashed line, probabilities mean what they say. Groups below ten labels are left out.",
        _paint_reliability,
    ),
    FigureOfRuns(
        "amounts",
        "F1 by number of labels",
        "F1, mean over test instances, of the first 1, 2, ... labels of every instance (lines), "
        "and of as many labels as fit each instance (stars).",
        _paint_amounts,
    ),
)


SECTION = ReportSection("second-stage", "Second stage", show, read)
