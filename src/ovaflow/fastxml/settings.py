"""Settings of a FastXML training, the paper's list of hyper-parameters (section 5)."""

from dataclasses import asdict, dataclass

import numpy as np

from ovaflow.data.propensity import A, B, inverse_propensity
from ovaflow.fastxml.growing import Rules
from ovaflow.fastxml.objectives import make_gains
from ovaflow.solver.losses import LOGISTIC
from ovaflow.solver.problem import Settings

METHOD = "fastxml"
"""Name of the method in configs and models."""

TOLERANCE = 0.01
"""Violation at which a separator is done, as a share of that at w = 0 (LIBLINEAR's default)."""


INNER_TOLERANCE = 0.35
"""Looser than for one-vs-all, whose problems are solved more exactly. Measured: a fifth less time than with 0.1."""


@dataclass(frozen=True)
class Forestry:
    """How trees are grown.

    Attributes
    ----------
    trees : int
    max_leaf : int
        Nodes of at most so many instances are not split.
    leaf_labels : int
        Labels of a leaf whose scores are kept.
    C_delta, C_r : float
        Weights of a separator's losses and of the rankings' gain (eq. 5).
    balanced : bool
        C_delta of each side is divided by its share of the node's instances, as in the paper's public code.
    objective : str
        A name of :data:`ovaflow.fastxml.objectives.OBJECTIVES`.
    updates : int
        Separators fitted in turn with the sides, in each node.
    outer_iterations, inner_iterations : int
        Newton steps of a separator, and passes over the features in one of them.
    weighting : str
        ``"propensity"``: labels gain 1/p (PfastXML, Jain et al. 2016).
    propensity_a, propensity_b : float
        Constants of the propensities.
    seed : int
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
    weighting: str = "none"
    propensity_a: float = A
    propensity_b: float = B
    seed: int = 0

    @property
    def parameters(self):
        """Settings that the result depends on, for the files."""
        unused = set() if self.weighting == "propensity" else {"propensity_a", "propensity_b"}
        return {"method": METHOD} | {name: value for name, value in asdict(self).items() if name not in unused}

    @property
    def rules(self):
        """Constants of growing."""
        return Rules(
            int(self.max_leaf),
            int(self.leaf_labels),
            int(self.updates),
            float(self.C_delta),
            float(self.C_r),
            bool(self.balanced),
        )

    @property
    def separator(self):
        """Constants of the solver."""
        return Settings(
            loss=LOGISTIC,
            epsilon=TOLERANCE,
            max_newton=int(self.outer_iterations),
            max_cg=int(self.inner_iterations),
            inner_tolerance=INNER_TOLERANCE,
        )

    def gains(self, Y):
        """What rankings of a training set are judged by.

        Parameters
        ----------
        Y : CSR, shape (n, l)

        Returns
        -------
        Gains
        """
        if self.weighting != "propensity":
            return make_gains(self.objective, Y)
        counts = np.bincount(Y.indices, minlength=Y.n_columns)
        return make_gains(self.objective, Y, inverse_propensity(counts, Y.n_rows, self.propensity_a, self.propensity_b))


def trees_of_shard(trees, shards, shard):
    """Numbers of the trees that a shard grows.

    Parameters
    ----------
    trees, shards, shard : int

    Returns
    -------
    range
        Empty where there are more shards than trees and this one is left without.
    """
    return range(shard * trees // shards, (shard + 1) * trees // shards)
