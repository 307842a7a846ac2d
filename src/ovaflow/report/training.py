"""The section Training: how many labels were solved, in how many steps; and label trees."""

from collections import Counter
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from matplotlib.ticker import MaxNLocator, MultipleLocator

from ovaflow.artifacts.label_tree import read_label_tree
from ovaflow.report import wording
from ovaflow.report.drawing import (
    FigureOfRuns,
    by_positives,
    draw,
    draw_all,
    line,
    logarithmic,
    paint_bands,
    series,
)
from ovaflow.report.tables import Column, table_of_runs
from ovaflow.solver.problem import Status
from ovaflow.training.plan import cost_of_cuts, cut_edges, read_shards

TOLERANCE = 1e-6
"""Relative rounding allowed when the gradient norm is compared with its target."""

MOST_STEPS = 40
"""Labels with more Newton steps are drawn as if they had so many."""


@dataclass(frozen=True)
class TrainingOfRun:
    """Training statistics of a run."""

    trained: int  # labels with a classifier
    untrained: int
    reached: int  # trained labels whose final gradient norm is within the target
    endings: dict  # number of the others by their status in words
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
    statistics = {name: np.asarray(values)[trained] for name, values in recorded.statistics.items()}
    norm, target = statistics["gradient_norm"], statistics["gradient_target"]
    reached = norm <= target * (1 + TOLERANCE)
    ratios = norm[target > 0] / target[target > 0]
    return TrainingOfRun(
        trained=int(trained.sum()),
        untrained=int((~trained).sum()),
        reached=int(reached.sum()),
        endings=_endings(statistics["status"][~reached]),
        worst_ratio=float(ratios.max()) if len(ratios) else None,
        positives=statistics["positives"],
        newton_steps=statistics["newton_steps"],
        cg_steps=statistics["cg_steps"],
        seconds=statistics["seconds"],
        halvings_per_label=_mean(statistics["line_search_halvings"]),
    )


def _endings(status):
    names = {int(each): each.name.replace("_", " ").lower() for each in Status}
    counts = Counter(status.tolist())
    return {names.get(code, f"status {code}"): counts[code] for code in sorted(counts)}


def _mean(array):
    return float(np.mean(array)) if len(array) else None


def _labels(title, name, hint):
    return Column(title, attrgetter(f"training.{name}"), wording.count, "labels", hint)


def _decimal(title, name, group, hint):
    return Column(title, attrgetter(f"training.{name}"), wording.decimal, group, hint)


STATUS = (
    _labels("reached the target", "reached", "gradient norm within the stopping rule's bound"),
    _labels("stopped above it", "above", "the solver gave up before the stopping rule was met"),
    _labels("no positives", "untrained", "no classifier, never predicted"),
    _decimal("worst", "worst_ratio", "|g| / target", "largest ratio over the trained labels"),
    _decimal("halvings", "halvings_per_label", "line search", "halved steps per label"),
)


@dataclass(frozen=True)
class LabelTreeOfRun:
    """A label tree as a run used it."""

    subtrees: int
    height: int
    star_cost: int  # sum of Hamming distances of labels from the root
    total_cost: int  # sum of Hamming distances of labels from their parents
    cuts: int  # labels that started at the root because their parent is in another shard
    cut_cost: int  # Hamming distance that this added


def read_label_tree_of(folder, settings, counts, dataset):
    """The label tree of a run; None where the run has another start, or the files are gone."""
    tree_path, plan_path = folder.parent / "label_tree.h5", folder / "shards.tsv"
    exist = tree_path.exists() and plan_path.exists()
    if settings.get("initialization") != "label-tree" or not exist:
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


_CUT = "labels that start at the root because their parent is in another shard"
LABEL_TREES = (
    _tree("subtrees", "subtrees", "label tree", "labels that start at the root, the problem without positives"),
    _tree("height", "height", "label tree", "edges on the longest path down from the root"),
    _tree("from the root", "star_cost", "Hamming distance", "sum over labels, if each started at the root"),
    _tree("from parents", "total_cost", "Hamming distance", "sum over labels, each from the label it starts at"),
    Column("saved", _share_saved, wording.percent, "%", "of the Hamming distance from the root"),
    _tree("edges cut", "cuts", "by shards", _CUT),
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
        "figures": draw_all(anchor, shown, FIGURES),
    }


def draw_newton_steps(name, runs):
    """Draw the share of labels by number of Newton steps."""
    caption = "Trained labels by number of Newton steps: the farther left, the better the start."
    return draw(name, "Labels by number of Newton steps", caption, _paint_newton_steps, runs)


def _paint_newton_steps(axes, runs):
    last = min(MOST_STEPS, max(int(run.training.newton_steps.max(initial=1)) for run in runs))
    edges = np.arange(last + 2) - 0.5
    for run in runs:
        shares = 100 * histogram(run.training.newton_steps, last)
        axes.stairs(shares, edges, color=series(run.series), fill=True, alpha=0.13)
        axes.stairs(shares, edges, color=series(run.series), linewidth=1.6)
        line(axes, run, range(last + 1), shares, linestyle="none", markevery=shares > 0.5)
    axes.set(xlabel="Newton steps", ylabel="labels in %", xlim=(-0.5, last + 0.5))
    locator = MultipleLocator(10) if last == MOST_STEPS else MaxNLocator(8, integer=True)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(_step_number)
    axes.grid(axis="x", visible=False)


def _step_number(step, _position):
    return f"{step:.0f}+" if step == MOST_STEPS else f"{step:.0f}"


def histogram(steps, last):
    """Share of labels by number of steps, shape (last + 1,); more steps count as ``last``."""
    return np.bincount(np.minimum(steps, last), minlength=last + 1) / max(len(steps), 1)


def _newton_by_positives(run):
    return by_positives(run.training.positives, run.training.newton_steps, np.mean)


def _milliseconds_by_positives(run):
    return by_positives(run.training.positives, 1000 * run.training.seconds)


def _paint_newton(axes, runs):
    paint_bands(axes, runs, _newton_by_positives)
    _positives_axis(axes)
    axes.set(ylabel="Newton steps")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def _paint_milliseconds(axes, runs):
    paint_bands(axes, runs, _milliseconds_by_positives)
    _positives_axis(axes)
    axes.set(yscale="log", ylabel="ms")
    logarithmic(axes.yaxis)


def _positives_axis(axes):
    axes.set(xscale="log", xlabel="training positives of the label")
    logarithmic(axes.xaxis)


FIGURES = (
    FigureOfRuns(
        "newton-by-positives",
        "Newton steps by training positives of the label",
        "Newton steps of a label by its training positives: a flat line means that rare labels need as many steps as "
        "frequent ones (mean, and 5 to 95 % of the labels; MSI, fig. 7, left).",
        _paint_newton,
    ),
    FigureOfRuns(
        "seconds-by-positives",
        "Time of a label by its training positives",
        "Time to train a label by its training positives; most labels are rare, so the left end matters most "
        "(median, and 5 to 95 % of the labels; MSI, fig. 7, right).",
        _paint_milliseconds,
    ),
)
"""Figures of all labels."""
