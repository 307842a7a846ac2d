"""The sections Training and Iteration by iteration: how labels were solved, from training.h5 and trace.h5."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator, MultipleLocator

from ovaflow.model.trace_file import read_trace
from ovaflow.report import wording
from ovaflow.report.drawing import draw, draw_all, line, logarithmic, series, thousands
from ovaflow.report.tables import Column, table_of_runs
from ovaflow.report.trees import label_trees_table
from ovaflow.solver.problem import Status

TOLERANCE = 1e-6
"""Relative rounding allowed between the gradient norm and its target."""

QUANTILES = 0.05, 0.95
"""Ends of a band, as in the figures of the MSI paper."""

FEWEST = 3
"""Labels without which nothing is drawn."""

SMALLEST_GAP = 1e-6
"""Rounding of the objective in float32; smaller gaps mean nothing."""

MOST_STEPS = 40
"""Labels with more Newton steps are drawn together."""

_STILL_SOLVED = 0.1
_DRAWN = 0.95
_CHANGES_NO_PROBLEM = {"stored_threshold", "reference"}


@dataclass(frozen=True)
class TrainingOfRun:
    """Training statistics of a run."""

    peak_rss_bytes: int  # largest resident memory of a shard job
    trained: int  # labels with a classifier
    untrained: int
    reached: int  # trained labels whose final gradient norm is within the target
    endings: dict  # numbers of the others by what the solver says of them
    worst_ratio: float | None  # largest gradient norm over its target
    positives: np.ndarray  # of the trained labels, shape (trained,), like the next three
    newton_steps: np.ndarray
    cg_steps: np.ndarray
    seconds: np.ndarray
    halvings_per_label: float | None

    @property
    def above(self):
        """Trained labels whose gradient norm is not within the target."""
        return self.trained - self.reached

    @property
    def newton_per_label(self):
        """Mean Newton steps of a trained label."""
        return _mean(self.newton_steps)

    @property
    def cg_per_label(self):
        """Mean conjugate gradient steps of a trained label."""
        return _mean(self.cg_steps)


def summarise(recorded):
    """Sum up the statistics of labels that the training file holds."""
    trained = np.asarray(recorded.statistics["positives"]) > 0
    of = {name: np.asarray(values)[trained] for name, values in recorded.statistics.items()}
    norm, target = of["gradient_norm"], of["gradient_target"]
    reached = norm <= target * (1 + TOLERANCE)
    ratios = norm[target > 0] / target[target > 0]
    return TrainingOfRun(
        peak_rss_bytes=recorded.peak_rss_bytes,
        trained=int(trained.sum()),
        untrained=int((~trained).sum()),
        reached=int(reached.sum()),
        endings=_endings(of["status"][~reached]),
        worst_ratio=float(ratios.max()) if len(ratios) else None,
        **{name: of[name] for name in ("positives", "newton_steps", "cg_steps", "seconds")},
        halvings_per_label=_mean(of["line_search_halvings"]),
    )


def _endings(status):
    codes, amounts = np.unique(status, return_counts=True)
    known = {int(each): each.name.replace("_", " ").lower() for each in Status}
    return {known.get(int(code), f"status {code}"): int(amount) for code, amount in zip(codes, amounts, strict=True)}


def _mean(array):
    return float(np.mean(array)) if len(array) else None


class Band(NamedTuple):
    """A quantity over labels at several places x: median or mean, and the quantiles around it."""

    x: np.ndarray
    middle: np.ndarray
    low: np.ndarray
    high: np.ndarray


def band(x, groups, middle=np.median):
    """Sum up a group of values at each place; groups of too few values are left out."""
    known = [(place, values) for place, values in zip(x, groups, strict=True) if len(values) >= FEWEST]
    rows = [(place, middle(values), *np.quantile(values, QUANTILES)) for place, values in known]
    return Band(*np.array(rows, np.float64).reshape(-1, 4).T)


def by_positives(positives, values, middle=np.median, bins_per_decade=5):
    """Sum up values of labels with similar numbers of positives, at the geometric mean of these."""
    bins = np.floor(bins_per_decade * np.log10(np.maximum(positives, 1)) + 1e-9).astype(np.int64)
    members = [np.flatnonzero(bins == number) for number in np.unique(bins)]
    places = [float(np.exp(np.log(positives[group]).mean())) for group in members]
    return band(places, [values[group] for group in members], middle)


@dataclass(frozen=True)
class Curves:
    """How a run's sampled labels were solved, by iteration and by positives."""

    n_labels: int
    iterations: int  # after so many, 95 % of the labels were solved
    gap: Band  # objective over that of the optimum, less 1, after 0, 1, 2, ... iterations
    multiplier: Band  # step length that the line search found in iteration 1, 2, ... (mean)
    active: Band  # share of the instances that an iteration looks at
    milliseconds: Band
    newton_by_positives: Band  # (mean)
    milliseconds_by_positives: Band


def read_trace_of(folder, model):
    """The trace of a run, None where there is none or it was made with other settings than the model."""
    if not (folder / "trace.h5").exists():
        return None
    trace = read_trace(folder / "trace.h5")
    settings = model.parameters.get("train", {})
    names = (settings.keys() | trace.parameters.keys()) - _CHANGES_NO_PROBLEM
    same = all(settings.get(name) == trace.parameters.get(name) for name in names)
    return trace if same and trace.inputs.get("dataset") == model.inputs.get("dataset") else None


def curves_of(trace):
    """Sum up a trace, None with too few labels."""
    n_labels = len(trace.starts) - 1
    if n_labels < FEWEST:
        return None
    steps = np.diff(trace.starts) - 1
    last = max(int(np.quantile(steps, _DRAWN, method="higher")), 1)
    gaps = trace.iterations["objective"] / np.repeat(trace.of_labels["optimum"], steps + 1) - 1
    seconds, positives = trace.iterations["seconds"], trace.of_labels["positives"]
    active = np.maximum(trace.iterations["active"], 1) / trace.n_instances
    return Curves(
        n_labels,
        last,
        band(range(last + 1), _carried_on(np.maximum(gaps, SMALLEST_GAP), trace.starts, last)),
        _by_iteration(trace.iterations["step_length"], trace.starts, np.mean),
        _by_iteration(active, trace.starts, before=1),
        _by_iteration(1000 * seconds, trace.starts),
        by_positives(positives, steps, np.mean, bins_per_decade=2),
        by_positives(positives, 1000 * np.add.reduceat(seconds, trace.starts[:-1]), bins_per_decade=2),
    )


def _carried_on(values, starts, last):
    """Values after each iteration, those of solved labels as they were at the end."""
    return [values[np.minimum(starts[:-1] + step, starts[1:] - 1)] for step in range(last + 1)]


def _by_iteration(values, starts, middle=np.median, before=0):
    """Values of each iteration, over the labels that still need it."""
    steps = np.diff(starts) - 1
    enough = max(FEWEST, int(_STILL_SOLVED * len(steps)))
    places = [step for step in range(1, steps.max() + 1) if (steps >= step).sum() >= enough]
    return band(places, [values[starts[:-1][steps >= step] + step - before] for step in places], middle)


STATUS = (
    (
        Column("reached the target", "labels", "gradient norm at or below the stopping rule's bound"),
        lambda run: run.training.reached,
        wording.count,
    ),
    (
        Column("stopped above it", "labels", "the solver gave up before the stopping rule was met"),
        lambda run: run.training.above,
        wording.count,
    ),
    (
        Column("no positives", "labels", "no classifier, never predicted"),
        lambda run: run.training.untrained,
        wording.count,
    ),
    (
        Column("worst", "|g| / target", "largest ratio over the trained labels"),
        lambda run: run.training.worst_ratio,
        wording.decimal,
    ),
    (
        Column("halvings", "line search", "halved steps per label"),
        lambda run: run.training.halvings_per_label,
        wording.decimal,
    ),
)


def show(anchor, results):
    """How many labels were solved, in how many steps, from where."""
    solved = [run for run in results.runs if run.training is not None]
    if not solved:
        return None
    shown = [run for run in solved if run.series is not None]
    trees = [run for run in results.runs if run.label_tree is not None]
    return {
        "runs": shown,
        "status": table_of_runs("Training", solved, STATUS),
        "trees": label_trees_table(trees) if trees else None,
        "newton": draw_newton_steps(f"{anchor}.newton", shown) if shown else None,
        "figures": draw_all(anchor, shown, FIGURES) if shown else [],
    }


def draw_newton_steps(name, runs):
    """Draw the share of labels by number of Newton steps."""
    caption = "Trained labels by number of Newton steps: the farther left, the better the start."
    return draw(name, "Labels by number of Newton steps", caption, partial(_paint_newton_steps, runs))


def _paint_newton_steps(runs, axes):
    last = min(MOST_STEPS, max(int(run.training.newton_steps.max(initial=1)) for run in runs))
    edges = np.arange(last + 2) - 0.5
    for run in runs:
        shares = 100 * histogram(run.training.newton_steps, last)
        axes.stairs(shares, edges, color=series(run.series), fill=True, alpha=0.13)
        axes.stairs(shares, edges, color=series(run.series), linewidth=1.6)
        line(axes, run, range(last + 1), shares, linestyle="none", markevery=shares > 0.5)
    axes.set(xlabel="Newton steps", ylabel="labels in %", xlim=(-0.5, last + 0.5))
    axes.xaxis.set_major_locator(MultipleLocator(10) if last == MOST_STEPS else MaxNLocator(8, integer=True))
    axes.xaxis.set_major_formatter(lambda step, _: f"{step:.0f}" + ("+" if step == MOST_STEPS else ""))
    axes.grid(axis="x", visible=False)


def histogram(steps, last):
    """Share of labels by number of steps, shape (last + 1,); more steps count as ``last``."""
    return np.bincount(np.minimum(steps, last), minlength=last + 1) / max(len(steps), 1)


def show_iterations(anchor, results):
    """Figures of traced labels."""
    runs = [run for run in results.shown if run.curves]
    return {"runs": runs, "figures": draw_all(anchor, runs, ITERATIONS)} if runs else None


def _newton_of(run):
    return by_positives(run.training.positives, run.training.newton_steps, np.mean)


def _milliseconds_of(run):
    return by_positives(run.training.positives, 1000 * run.training.seconds)


def _curve(name):
    return lambda run: getattr(run.curves, name)


def _paint_bands(band_of, finish, axes, runs):
    for run in runs:
        x, middle, low, high = band_of(run)
        axes.fill_between(x, low, high, color=series(run.series), alpha=0.13, linewidth=0)
        line(axes, run, x, middle, keep=False)
        axes.keep(run.name, x=x, y=middle, **{"5 %": low, "95 %": high})
    finish(axes, runs)


def _iterations(axes, runs, first=1):
    last = max(run.curves.iterations for run in runs)
    axes.set(xlabel="Newton iteration", xlim=(first, max(last, first + 1)))
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))


def _gap_axes(axes, runs):
    _iterations(axes, runs, first=0)
    axes.set(yscale="log", ylabel="objective above the optimum")
    axes.set_ylim(bottom=SMALLEST_GAP / 2)
    logarithmic(axes.yaxis)


def _multiplier_axes(axes, runs):
    _iterations(axes, runs)
    axes.set(ylabel="line-search multiplier", ylim=(0, 1.04))


def _active_axes(axes, runs):
    _iterations(axes, runs)
    axes.set(yscale="log", ylabel="active instances")
    axes.set_ylim(top=1.3)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    axes.yaxis.set_minor_formatter("")


def _duration_axes(axes, runs):
    _iterations(axes, runs)
    _milliseconds(axes)


def _newton_axes(axes, runs):
    _positives(axes)
    axes.set(ylabel="Newton steps")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def _seconds_axes(axes, runs):
    _positives(axes)
    _milliseconds(axes)


def _positives(axes):
    axes.set(xscale="log", xlabel="training positives of the label")
    thousands(axes.xaxis)


def _milliseconds(axes):
    axes.set(yscale="log", ylabel="ms")
    logarithmic(axes.yaxis)


FIGURES = (
    (
        "newton-by-positives",
        "Newton steps by training positives of the label",
        "Newton steps of a label by its training positives, as it was trained: a flat line means that rare labels need "
        "no more steps than frequent ones (mean, and 5 to 95 % of the labels; MSI, fig. 7, left).",
        partial(_paint_bands, _newton_of, _newton_axes),
    ),
    (
        "seconds-by-positives",
        "Time of a label by its training positives",
        "Time of a label by its training positives, as it was trained; most labels are rare, so the left end decides "
        "(median, and 5 to 95 % of the labels; MSI, fig. 7, right).",
        partial(_paint_bands, _milliseconds_of, _seconds_axes),
    ),
)
"""Figures of all labels."""

ITERATIONS = (
    (
        "objective",
        "Objective above the optimum by Newton iteration",
        "Objective of a label, relative to its optimum, less 1: how far a start is from the solution, and how fast it "
        "gets there (median, and 5 to 95 % of the labels; solved labels stay where they ended; MSI, fig. 1).",
        partial(_paint_bands, _curve("gap"), _gap_axes),
    ),
    (
        "multiplier",
        "Line-search multiplier by Newton iteration",
        "Multiplier that the line search found: below 1 the quadratic model promised more than the objective kept "
        "(mean, and 5 to 95 % of the labels not yet solved; MSI, fig. 3 and 8, right).",
        partial(_paint_bands, _curve("multiplier"), _multiplier_axes),
    ),
    (
        "active",
        "Share of active instances by Newton iteration",
        "Share of the instances that an iteration looks at, those with curved loss: a good start leaves out the easy "
        "negatives at once (median, and 5 to 95 % of the labels not yet solved; MSI, fig. 4, left, and 6).",
        partial(_paint_bands, _curve("active"), _active_axes),
    ),
    (
        "duration",
        "Duration of Newton iterations",
        "Processor time of an iteration of the plain solver, which grows with the active instances "
        "(median, and 5 to 95 % of the labels not yet solved; MSI, fig. 4, right, and 8, left).",
        partial(_paint_bands, _curve("milliseconds"), _duration_axes),
    ),
    (
        "traced-newton-by-positives",
        "Newton steps of sampled labels by their training positives",
        "Newton steps of the sampled labels with the plain solver: what the start alone decides, without working sets "
        "(mean, and 5 to 95 % of the labels; MSI, fig. 7, left).",
        partial(_paint_bands, _curve("newton_by_positives"), _newton_axes),
    ),
    (
        "traced-seconds-by-positives",
        "Time of sampled labels by their training positives",
        "Processor time of the sampled labels with the plain solver "
        "(median, and 5 to 95 % of the labels; MSI, fig. 7, right).",
        partial(_paint_bands, _curve("milliseconds_by_positives"), _seconds_axes),
    ),
)
"""Figures of traced labels."""
