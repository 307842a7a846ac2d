"""What a start needs, computed here and now: for measurements, which have no artifacts of a workflow at hand."""

from ovaflow.artifacts.label_tree import compute_label_tree
from ovaflow.artifacts.means import compute_means
from ovaflow.initialization.all_negative import solve_root
from ovaflow.initialization.starts import StartInputs


def compute_start_inputs(dataset, training, threads=1, means=None, **more):
    """Means, and what else the start of a training needs.

    Parameters
    ----------
    dataset : Dataset
    training : TrainLabels
    threads : int
        For the means; they change no result.
    means : Means, optional
        Computed unless they are given.
    **more
        Inputs that only the caller can give.

    Returns
    -------
    StartInputs
    """
    if training.needs_root:
        more["root"] = solve_root(dataset.train.X, training)
    if training.needs_tree:
        more["parents"] = compute_label_tree(dataset.train.Y).parent
    if means is None:
        means = compute_means(dataset.train.X, dataset.positives, threads)
    return StartInputs.of(dataset, means, **more)
