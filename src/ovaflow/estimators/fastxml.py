"""Trees over the instances."""

from ovaflow.configuration.schema import Evaluate, Prepare, Train, Trees
from ovaflow.data.dataset import Dataset
from ovaflow.estimators.base import LabelClassifier
from ovaflow.fastxml.in_memory import train_forest
from ovaflow.fastxml.settings import METHOD, Forestry
from ovaflow.model.model_file import ModelFile


class FastXMLClassifier(LabelClassifier):
    """FastXML (Prabhu and Varma 2014): trees that divide the instances by sparse separators.

    Settings have the names and the defaults of the config file; see docs/reference/config.md. Scores of labels are the
    means of their shares in the leaves, of which the decision function is the part above 1/2.

    Parameters
    ----------
    trees : int
    max_leaf : int
        Nodes of at most so many instances are not split.
    leaf_labels : int
        Labels of a leaf whose scores are kept.
    C_delta, C_r : float
        Weights of the separators' losses and of the rankings.
    balanced : bool
        C_delta of each side is divided by its share of the node's instances.
    objective : str
        ``"nDCG"``, ``"nDCG@5"`` or ``"P@5"``.
    updates : int
        Separators fitted in turn with the sides, in each node.
    outer_iterations, inner_iterations : int
        Newton steps of a separator, and passes over the features in each, at most.
    weighting : str
        ``"none"`` or ``"propensity"``.
    propensity_a, propensity_b : float
        Constants of the propensities.
    seed : int
    bias : float
        Value of the bias feature; 0: none.
    normalize : bool
        Scale each instance to length 1, as the config does by default.
    threads : int
        They change no result.
    verbose : bool
        Tell how far the training is.
    """

    method = METHOD
    neutral = 0.5

    def __init__(
        self,
        *,
        trees: int = 50,
        max_leaf: int = 10,
        leaf_labels: int = 20,
        C_delta: float = 1.0,
        C_r: float = 1.0,
        balanced: bool = True,
        objective: str = "nDCG",
        updates: int = 1,
        outer_iterations: int = 10,
        inner_iterations: int = 10,
        weighting: str = "none",
        propensity_a: float = 0.55,
        propensity_b: float = 1.5,
        seed: int = 0,
        bias: float = 1.0,
        normalize: bool = False,
        threads: int = 1,
        verbose: bool = False,
    ) -> None:
        self.trees = trees
        self.max_leaf = max_leaf
        self.leaf_labels = leaf_labels
        self.C_delta = C_delta
        self.C_r = C_r
        self.balanced = balanced
        self.objective = objective
        self.updates = updates
        self.outer_iterations = outer_iterations
        self.inner_iterations = inner_iterations
        self.weighting = weighting
        self.propensity_a = propensity_a
        self.propensity_b = propensity_b
        self.seed = seed
        self.bias = bias
        self.normalize = normalize
        self.threads = threads
        self.verbose = verbose

    def _train(self, dataset: Dataset) -> ModelFile:
        train = self._settings(Train, ("weighting", "threads"))
        self._settings(Prepare, ("bias", "normalize"))
        propensities = self._settings(Evaluate, ("propensity_a", "propensity_b")).model_dump()
        trees = self._settings(Trees, Trees.model_fields).model_dump()
        return train_forest(dataset, Forestry(**trees, weighting=train.weighting, **propensities), train.threads)
