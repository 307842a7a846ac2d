"""The section Training: numbers of solved labels and of the solver's steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ovaflow.initialization.spanning_tree import LabelTree
from ovaflow.model.training_file import Training
from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, make_runs_table
from ovaflow.solver.problem import Status

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run

# relative rounding allowed when the gradient norm is compared with its target
GRADIENT_TOLERANCE = 1e-6


@dataclass(frozen=True)
class TrainingSummary:
    """Results of the solver over all labels of a run."""

    trained: int  # labels with a classifier
    untrained: int
    reached: int  # trained labels whose final gradient norm is within the target
    endings: str  # statuses of the other trained labels, in words
    worst_ratio: float | None  # largest gradient norm divided by its target
    newton_steps: np.ndarray  # of the trained labels
    cg_steps: np.ndarray  # of the trained labels
    line_search_halvings: float | None  # mean over the trained labels
    label_tree: LabelTree | None  # where labels start from this tree

    @property
    def above(self) -> int:
        """Number of trained labels whose gradient norm is above the target."""
        return self.trained - self.reached


def steps_getter(name: str) -> Callable[[Run], float | None]:
    """Return a function of a run: mean ``newton_steps`` or ``cg_steps`` of its labels.

    None where labels have no problems of their own.
    """

    def compute_mean(run: Run) -> float | None:
        training = run.read(read_training)
        if training is None:
            return None
        return _compute_mean(getattr(training, name))

    return compute_mean


def read_training(run: Run) -> TrainingSummary | None:
    """Summarize the training of a run; None where labels have no problems of their own."""
    if run.training is None or not run.training.statistics:
        return None
    return summarize_training(run.training, _read_label_tree(run))


def summarize_training(training: Training, label_tree: LabelTree | None = None) -> TrainingSummary:
    """Summarize the statistics of the solver."""
    trained = np.asarray(training.statistics["positives"]) > 0
    statistics = {}
    for name, values in training.statistics.items():
        statistics[name] = np.asarray(values)[trained]
    norm = statistics["gradient_norm"]
    target = statistics["gradient_target"]
    reached = norm <= target * (1 + GRADIENT_TOLERANCE)
    ratios = norm[target > 0] / target[target > 0]
    return TrainingSummary(
        trained=int(trained.sum()),
        untrained=int((~trained).sum()),
        reached=int(reached.sum()),
        endings=_count_statuses(statistics["status"][~reached]),
        worst_ratio=float(ratios.max()) if len(ratios) else None,
        newton_steps=statistics["newton_steps"],
        cg_steps=statistics["cg_steps"],
        line_search_halvings=_compute_mean(statistics["line_search_halvings"]),
        label_tree=label_tree,
    )


def _count_statuses(statuses: np.ndarray) -> str:
    """Count statuses in words: ``1 iteration limit, 3 line search failed``."""
    counts = Counter(Status(code).name.replace("_", " ").lower() for code in statuses.tolist())
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))


def _compute_mean(values: np.ndarray) -> float | None:
    return float(np.mean(values)) if len(values) else None


def _read_label_tree(run: Run) -> LabelTree | None:
    path = run.folder.parent / "label_tree.h5"
    if run.settings.get("initialization") != "label-tree" or not path.exists():
        return None
    return LabelTree.open(path, dataset=run.dataset)


def _make_column(
    title: str,
    field: str,
    group: str,
    hint: str,
    text: Callable[[Any], str] | None = wording.count,
) -> Column:
    """Make the column of a field of :class:`TrainingSummary`."""
    return Column(title, partial(_get_field, attrgetter(field)), text, group, hint)


def _get_field(getter: Callable[[TrainingSummary], Any], run: Run) -> Any:
    return getter(run.read(read_training))


STATUS_COLUMNS = (
    _make_column(
        "reached the target", "reached", "labels", "gradient norm within the stopping rule's bound"
    ),
    _make_column(
        "stopped above it",
        "above",
        "labels",
        "the solver ended with a gradient norm above that bound",
    ),
    _make_column("because", "endings", "labels", "statuses of these", None),
    _make_column("no positives", "untrained", "labels", "no classifier, never predicted"),
    _make_column(
        "worst",
        "worst_ratio",
        "|g| / target",
        "largest ratio over the trained labels",
        wording.decimal,
    ),
    _make_column(
        "halvings",
        "line_search_halvings",
        "line search",
        "halved steps per label",
        wording.decimal,
    ),
)


def _compute_saved_share(run: Run) -> float:
    tree = run.read(read_training).label_tree
    return 1 - tree.total_cost / tree.star_cost


LABEL_TREE_COLUMNS = (
    _make_column("subtrees", "label_tree.subtrees", "label tree", "labels that start at the root"),
    _make_column(
        "height",
        "label_tree.height",
        "label tree",
        "edges on the longest path down from the root",
    ),
    _make_column(
        "from the root",
        "label_tree.star_cost",
        "Hamming distance",
        "sum over labels, if each started there",
    ),
    _make_column(
        "from parents",
        "label_tree.total_cost",
        "Hamming distance",
        "sum over labels, each from its parent",
    ),
    Column(
        "saved",
        _compute_saved_share,
        wording.percent,
        "%",
        "of the Hamming distance from the root",
    ),
)


def show_training(results: DatasetResults) -> dict[str, Any] | None:
    """Show how the solver ended for the labels of each run; None without such runs."""
    solved = [run for run in results.runs if run.read(read_training)]
    if not solved:
        return None
    with_trees = [run for run in solved if run.read(read_training).label_tree is not None]
    trees = None
    if with_trees:
        trees = make_runs_table("Label trees", with_trees, LABEL_TREE_COLUMNS)
    return {"status": make_runs_table("Training", solved, STATUS_COLUMNS), "trees": trees}


SECTION = ReportSection("training", "Training", show_training, folded=True)
