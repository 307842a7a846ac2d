"""The section Training: how many labels were solved, in how many steps."""

from collections import Counter
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from ovaflow.initialization.spanning_tree import LabelTree
from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, make_runs_table
from ovaflow.solver.problem import Status

GRADIENT_TOLERANCE = (
    1e-6  # relative rounding allowed when the gradient norm is compared with its target
)


@dataclass(frozen=True)
class TrainingSummary:
    trained: int  # labels with a classifier
    untrained: int
    reached: int  # trained labels whose final gradient norm is within the target
    endings: str  # statuses of the others in words
    worst_ratio: float | None  # largest gradient norm over its target
    newton_steps: np.ndarray  # of the trained labels
    cg_steps: np.ndarray
    halvings_per_label: float | None
    label_tree: LabelTree | None  # with the start of that name

    @property
    def above(self):
        return self.trained - self.reached


def steps_getter(name):
    """Function of a run: mean ``newton_steps`` or ``cg_steps`` of a label, where the method has
    them.
    """

    def mean(run):
        training = run.read(read_training)
        return training and _mean(getattr(training, name))

    return mean


def read_training(run):
    """Summarise what the solver did; None where labels have no problems of their own."""
    if run.training is None or not run.training.statistics:
        return None
    return summarize_training(run.training, _read_label_tree(run))


def summarize_training(recorded, label_tree=None):
    trained = np.asarray(recorded.statistics["positives"]) > 0
    statistics = {name: np.asarray(values)[trained] for name, values in recorded.statistics.items()}
    norm = statistics["gradient_norm"]
    target = statistics["gradient_target"]
    reached = norm <= target * (1 + GRADIENT_TOLERANCE)
    ratios = norm[target > 0] / target[target > 0]
    return TrainingSummary(
        trained=int(trained.sum()),
        untrained=int((~trained).sum()),
        reached=int(reached.sum()),
        endings=_endings(statistics["status"][~reached]),
        worst_ratio=float(ratios.max()) if len(ratios) else None,
        newton_steps=statistics["newton_steps"],
        cg_steps=statistics["cg_steps"],
        halvings_per_label=_mean(statistics["line_search_halvings"]),
        label_tree=label_tree,
    )


def _endings(status):
    counts = Counter(Status(code).name.replace("_", " ").lower() for code in status.tolist())
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))


def _mean(array):
    return float(np.mean(array)) if len(array) else None


def _column(title, name, group, hint, text=wording.count):
    figure = attrgetter(name)
    return Column(title, lambda run: figure(run.read(read_training)), text, group, hint)


_REACHED = "gradient norm within the stopping rule's bound"
_ABOVE = "the solver gave up before the stopping rule was met"
_WORST = "worst_ratio", "|g| / target", "largest ratio over the trained labels"
_HALVINGS = "halvings_per_label", "line search", "halved steps per label"
STATUS_COLUMNS = (
    _column("reached the target", "reached", "labels", _REACHED),
    _column("stopped above it", "above", "labels", _ABOVE),
    _column("because", "endings", "labels", "statuses of these", None),
    _column("no positives", "untrained", "labels", "no classifier, never predicted"),
    _column("worst", *_WORST, wording.decimal),
    _column("halvings", *_HALVINGS, wording.decimal),
)


def _read_label_tree(run):
    path = run.path.parent / "label_tree.h5"
    if run.settings.get("initialization") != "label-tree" or not path.exists():
        return None
    return LabelTree.open(path, dataset=run.dataset)


def _share_saved(run):
    tree = run.read(read_training).label_tree
    return 1 - tree.total_cost / tree.star_cost


_HEIGHT = "edges on the longest path down from the root"
_DISTANCE = "Hamming distance"
LABEL_TREE_COLUMNS = (
    _column("subtrees", "label_tree.subtrees", "label tree", "labels that start at the root"),
    _column("height", "label_tree.height", "label tree", _HEIGHT),
    _column(
        "from the root", "label_tree.star_cost", _DISTANCE, "sum over labels, if each started there"
    ),
    _column(
        "from parents", "label_tree.total_cost", _DISTANCE, "sum over labels, each from its parent"
    ),
    Column("saved", _share_saved, wording.percent, "%", "of the Hamming distance from the root"),
)


def show_training(anchor, results):
    solved = [run for run in results.runs if run.read(read_training)]
    if not solved:
        return None
    trees = [run for run in solved if run.read(read_training).label_tree is not None]
    return {
        "status": make_runs_table("Training", solved, STATUS_COLUMNS),
        "trees": make_runs_table("Label trees", trees, LABEL_TREE_COLUMNS) if trees else None,
    }


SECTION = ReportSection("training", "Training", show_training, folded=True)
