"""The section Training: how many labels were solved, in how many steps."""

from collections import Counter
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from matplotlib.ticker import MaxNLocator, MultipleLocator

from ovaflow.artifacts.label_tree import read_label_tree
from ovaflow.report import wording
from ovaflow.report.drawing import FigureOfRuns, draw_all, line, series
from ovaflow.report.tables import Column, table_of_runs
from ovaflow.solver.problem import Status

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
    endings: str  # statuses of the others in words
    worst_ratio: float | None  # largest gradient norm over its target
    newton_steps: np.ndarray  # of the trained labels
    cg_steps: np.ndarray
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
        newton_steps=statistics["newton_steps"],
        cg_steps=statistics["cg_steps"],
        halvings_per_label=_mean(statistics["line_search_halvings"]),
    )


def _endings(status):
    names = {int(each): each.name.replace("_", " ").lower() for each in Status}
    counts = Counter(names.get(code, f"status {code}") for code in status.tolist())
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))


def _mean(array):
    return float(np.mean(array)) if len(array) else None


def _labels(title, name, hint):
    return Column(title, attrgetter(f"training.{name}"), wording.count, "labels", hint)


def _decimal(title, name, group, hint):
    return Column(title, attrgetter(f"training.{name}"), wording.decimal, group, hint)


STATUS = (
    _labels("reached the target", "reached", "gradient norm within the stopping rule's bound"),
    _labels("stopped above it", "above", "the solver gave up before the stopping rule was met"),
    Column("because", attrgetter("training.endings"), group="labels", hint="statuses of these"),
    _labels("no positives", "untrained", "no classifier, never predicted"),
    _decimal("worst", "worst_ratio", "|g| / target", "largest ratio over the trained labels"),
    _decimal("halvings", "halvings_per_label", "line search", "halved steps per label"),
)


def read_label_tree_of(folder, settings, dataset):
    """The label tree of a run; None where the run has another start, or the file is gone."""
    path = folder.parent / "label_tree.h5"
    if settings.get("initialization") != "label-tree" or not path.exists():
        return None
    return read_label_tree(path, dataset)


def _tree(title, name, group, hint):
    return Column(title, attrgetter(f"label_tree.{name}"), wording.count, group, hint)


def _share_saved(run):
    return 1 - run.label_tree.total_cost / run.label_tree.star_cost


LABEL_TREES = (
    _tree("subtrees", "subtrees", "label tree", "labels that start at the root"),
    _tree("height", "height", "label tree", "edges on the longest path down from the root"),
    _tree("from the root", "star_cost", "Hamming distance", "sum over labels, if each started there"),
    _tree("from parents", "total_cost", "Hamming distance", "sum over labels, each from its parent"),
    Column("saved", _share_saved, wording.percent, "%", "of the Hamming distance from the root"),
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
        "figures": draw_all(anchor, shown, FIGURES),
    }


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


FIGURES = (
    FigureOfRuns(
        "newton",
        "Labels by number of Newton steps",
        "Trained labels by number of Newton steps: the farther left, the better the start.",
        _paint_newton_steps,
    ),
)
