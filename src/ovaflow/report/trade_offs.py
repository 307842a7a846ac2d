"""The section on trade-offs: what more accuracy costs in time, memory and size."""

from dataclasses import dataclass

from ovaflow.report.drawing import MARKERS, NAMED, draw, logarithmic, series
from ovaflow.report.labelling import label_points

METRIC = "P@1"


@dataclass(frozen=True)
class Price:
    """What accuracy is weighed against.

    Attributes
    ----------
    key, title, axis, caption : str
    attribute : str
        Of a run.
    scale : float
        From the attribute to the axis.
    """

    key: str
    title: str
    axis: str
    caption: str
    attribute: str
    scale: float = 1.0


PRICES = (
    Price(
        "training",
        "Accuracy and training time",
        "training, core-seconds",
        "What training longer brings: seconds times threads of the solver.",
        "train_seconds",
    ),
    Price(
        "size",
        "Accuracy and model size",
        "model file, MiB",
        "What a larger model brings.",
        "model_bytes",
        1 / (1 << 20),
    ),
    Price(
        "prediction",
        "Accuracy and prediction time",
        "prediction, ms per instance",
        "What slower prediction brings: wall time of scoring the test set, per instance.",
        "predict_milliseconds_per_instance",
    ),
    Price(
        "memory",
        "Accuracy and memory",
        "peak memory of a training job, MiB",
        "What larger training jobs bring: resident memory of the largest one.",
        "peak_rss_bytes",
        1 / (1 << 20),
    ),
)


def show(anchor, section):
    """Figures of the section, for datasets of several runs.

    Parameters
    ----------
    anchor : str
        Of the dataset, for names that are unique on the page.
    section : Section

    Returns
    -------
    dict or None
        None leaves the section out.
    """
    drawn = []
    for price in PRICES:
        points = [(run, cost, metric) for run, cost, metric in _points(section.runs, price)]
        if len(points) > 1:
            drawn.append((_draw(f"{anchor}.against-{price.key}", price, points), price.caption))
    return {"runs": [], "figures": drawn, "hidden": len(section.runs) - len(section.shown)} if drawn else None


def _points(runs, price):
    for run in runs:
        cost, metric = getattr(run, price.attribute), run.metrics.get(METRIC)
        if cost and isinstance(metric, int | float) and metric == metric:
            yield run, price.scale * cost, 100 * metric


def pareto(points):
    """Points that no other point is better than in both ways.

    Parameters
    ----------
    points : sequence of (float, float)
        Cost, where less is better, and quality, where more is.

    Returns
    -------
    list of int
        Places, by rising cost and quality.
    """
    front = []
    for place in sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1])):
        if not front or points[place][1] > points[front[-1]][1]:
            front.append(place)
    return front


def _draw(name, price, points):
    front = pareto([(cost, metric) for _, cost, metric in points])

    def paint(axes):
        axes.set(xscale="log", xlabel=price.axis, ylabel=f"{METRIC} in %")
        costs, metrics = ([points[place][side] for place in front] for side in (1, 2))
        axes.plot(costs, metrics, color=NAMED["muted"], drawstyle="steps-post", linestyle=(0, (4, 3)), linewidth=1.1)
        for run, cost, metric in points:
            featured = run.series is not None
            marker = MARKERS[run.series % len(MARKERS)] if featured else "."
            colour = series(run.series) if featured else NAMED["muted"]
            axes.plot([cost], [metric], color=colour, marker=marker, markersize=7, linestyle="none")
        for place, (run, cost, metric) in enumerate(points):
            axes.keep(run.name, x=[cost], y=[metric], Pareto_front=["yes" if place in front else "no"])
        axes.margins(0.12, 0.16)
        _limits(axes)
        logarithmic(axes.xaxis)
        order = sorted(range(len(points)), key=lambda place: _rank(points, front, place))
        steps = [corner for place in front for corner in _corners(points, front, place)]
        important = sum(points[place][0].series is not None or place in front for place in order)
        label_points(axes, [(points[place][0].name, *points[place][1:]) for place in order], important, steps)

    return draw(name, price.title, paint)


def _corners(points, front, place):
    """Where the dashed line turns: at a point, and below the next one."""
    at = front.index(place)
    below = [(points[front[at + 1]][1], points[place][2])] if at + 1 < len(front) else []
    return [points[place][1:], *below]


def _rank(points, front, place):
    """Whose name is placed first: the front's, then those that figures show, then the others."""
    return place not in front, points[place][0].series is None


def _limits(axes):
    """At least a factor of two across and a point up, so that what is alike looks alike."""
    low, high = axes.get_xlim()
    if high < 2 * low:
        middle = (low * high) ** 0.5
        axes.set_xlim(middle / 2**0.5, middle * 2**0.5)
    low, high = axes.get_ylim()
    if high < low + 1:
        axes.set_ylim((low + high - 1) / 2, (low + high + 1) / 2)
