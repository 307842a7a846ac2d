"""The section on training: how many labels were solved, in how many steps, from where; and label trees."""

from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import numpy as np
from matplotlib.ticker import MaxNLocator, MultipleLocator

from ovaflow.artifacts.label_tree import read_label_tree
from ovaflow.report import wording
from ovaflow.report.drawing import by_positives, draw, draw_all, line, logarithmic, paint_bands, series
from ovaflow.report.tables import Column, table_of_runs
from ovaflow.solver.problem import Status
from ovaflow.training.plan import cost_of_cuts, cut_edges, read_shards

TOLERANCE = 1e-6
"""Relative rounding allowed between the gradient norm and its target."""

MOST_STEPS = 40
"""Labels with more Newton steps are drawn together."""


@dataclass(frozen=True)
class TrainingOfRun:
    """Training statistics of a run."""

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


def newton_per_label(run):
    """Mean Newton steps of a trained label, where the method has them."""
    return run.training and _mean(run.training.newton_steps)


def cg_per_label(run):
    """Mean conjugate gradient steps of a trained label."""
    return run.training and _mean(run.training.cg_steps)


def summarise(recorded):
    """Sum up the statistics of labels that the training file holds."""
    trained = np.asarray(recorded.statistics["positives"]) > 0
    of = {name: np.asarray(values)[trained] for name, values in recorded.statistics.items()}
    norm, target = of["gradient_norm"], of["gradient_target"]
    reached = norm <= target * (1 + TOLERANCE)
    ratios = norm[target > 0] / target[target > 0]
    return TrainingOfRun(
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


def _of(name):
    return attrgetter(f"training.{name}")


STATUS = (
    Column(
        "reached the target",
        _of("reached"),
        wording.count,
        "labels",
        "gradient norm at or below the stopping rule's bound",
    ),
    Column(
        "stopped above it", _of("above"), wording.count, "labels", "the solver gave up before the stopping rule was met"
    ),
    Column("no positives", _of("untrained"), wording.count, "labels", "no classifier, never predicted"),
    Column("worst", _of("worst_ratio"), wording.decimal, "|g| / target", "largest ratio over the trained labels"),
    Column("halvings", _of("halvings_per_label"), wording.decimal, "line search", "halved steps per label"),
)


@dataclass(frozen=True)
class LabelTreeOfRun:
    """A label tree as a run used it."""

    subtrees: int
    height: int
    star_cost: int  # Hamming distance of all labels from the root
    total_cost: int  # and from their parents
    cuts: int  # labels that started at the root because their parent is in another shard
    cut_cost: int  # Hamming distance that this added


def read_label_tree_of(folder, settings, counts, dataset):
    """The label tree of a run; None where the run starts otherwise, or its files are not kept."""
    tree_path, plan_path = folder.parent / "label_tree.h5", folder / "shards.tsv"
    if settings.get("initialization") != "label-tree" or not (tree_path.exists() and plan_path.exists()):
        return None
    tree = read_label_tree(tree_path, dataset)
    cut = cut_edges(tree, read_shards(plan_path, len(counts)))
    cost = cost_of_cuts(tree, np.asarray(counts), cut)
    return LabelTreeOfRun(tree.subtrees, tree.height, tree.star_cost, tree.total_cost, len(cut), cost)


def _tree(title, name, group, hint):
    return Column(title, attrgetter(f"label_tree.{name}"), wording.count, group, hint)


def _share_saved(run):
    tree = run.label_tree
    return 1 - tree.total_cost / tree.star_cost if tree.star_cost else None


LABEL_TREES = (
    _tree("subtrees", "subtrees", "label tree", "labels that start at the root, the problem without positives"),
    _tree("height", "height", "label tree", "edges on the longest path down from the root"),
    _tree("from the root", "star_cost", "Hamming distance", "of all labels, if each started at the root"),
    _tree("from parents", "total_cost", "Hamming distance", "of all labels from the label that they start at"),
    Column("saved", _share_saved, wording.percent, "%", "of the Hamming distance from the root"),
    _tree("edges cut", "cuts", "by shards", "labels that start at the root because their parent is in another shard"),
    _tree("cost", "cut_cost", "by shards", "Hamming distance added for these labels"),
)
"""Label trees of the runs side by side."""


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
        "trees": table_of_runs("Label trees", trees, LABEL_TREES) if trees else None,
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


def _newton_of(run):
    return by_positives(run.training.positives, run.training.newton_steps, np.mean)


def _milliseconds_of(run):
    return by_positives(run.training.positives, 1000 * run.training.seconds)


def newton_axes(axes, runs):
    """Newton steps by training positives."""
    _positives(axes)
    axes.set(ylabel="Newton steps")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def seconds_axes(axes, runs):
    """Time by training positives."""
    _positives(axes)
    milliseconds(axes)


def _positives(axes):
    axes.set(xscale="log", xlabel="training positives of the label")
    logarithmic(axes.xaxis)


def milliseconds(axes):
    """A logarithmic axis of milliseconds."""
    axes.set(yscale="log", ylabel="ms")
    logarithmic(axes.yaxis)


FIGURES = (
    (
        "newton-by-positives",
        "Newton steps by training positives of the label",
        "Newton steps of a label by its training positives, as it was trained: a flat line means that rare labels need "
        "no more steps than frequent ones (mean, and 5 to 95 % of the labels; MSI, fig. 7, left).",
        partial(paint_bands, _newton_of, newton_axes),
    ),
    (
        "seconds-by-positives",
        "Time of a label by its training positives",
        "Time of a label by its training positives, as it was trained; most labels are rare, so the left end decides "
        "(median, and 5 to 95 % of the labels; MSI, fig. 7, right).",
        partial(paint_bands, _milliseconds_of, seconds_axes),
    ),
)
"""Figures of all labels."""
