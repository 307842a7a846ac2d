"""The classifier of FastXML for Python programs."""

from dataclasses import dataclass

from ovaflow.estimators.base import LabelClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class FastXMLClassifier(LabelClassifier):
    """FastXML (Prabhu and Varma 2014): trees that divide the instances by sparse separators.

    Parameters have the names and, but for ``normalize``, the defaults of the config file; see
    docs/reference/config.md for their legal values. Those of :class:`LabelClassifier` come on top.
    The score of a label is the mean of its shares in the leaves, and the decision function is that
    score minus 1/2.

    Parameters
    ----------
    trees : int
        Number of trees; half as many cost little quality.
    max_leaf : int
        Nodes with at most this many instances are not split.
    leaf_labels : int
        Number of labels kept per leaf.
    C_delta : float
        Weight of the separators' losses; larger: denser separators; 0.3 for texts.
    C_r : float
        Weight of the rankings; matters only with several updates.
    balanced : bool
        Divide C_delta of each side by its share of the node's instances.
    objective : str
        Ranking measure that chooses the sides of a node: ``"nDCG"``, ``"nDCG@5"`` or ``"P@5"``.
    updates : int
        How often each node fits its sides and then its separator.
    outer_iterations : int
        Maximum number of Newton steps per separator.
    inner_iterations : int
        Maximum number of passes over the features per Newton step.
    seed : int
        Seed of all random draws.
    weighting : str
        ``"propensity"`` counts rare labels, which annotators miss most often, more.
    propensity_a, propensity_b : float
        A and B of the propensities (Jain et al. 2016).
    """

    trees: int = 50
    max_leaf: int = 10
    leaf_labels: int = 20
    C_delta: float = 1.0
    C_r: float = 1.0
    balanced: bool = True
    objective: str = "nDCG"
    updates: int = 1
    outer_iterations: int = 10
    inner_iterations: int = 10
    seed: int = 0
    weighting: str = "none"
    propensity_a: float = 0.55
    propensity_b: float = 1.5

    method = "fastxml"
    neutral = 0.5
