"""Settings of FastXML."""

from typing import Any, Literal

from ovaflow.settings.section import (
    SEED_SETTING,
    WEIGHTING_SETTING,
    Positive,
    Section,
    Weighting,
    setting,
)
from ovaflow.settings.train import Propensities, unused_propensities


class FastXML(Section):
    """Settings of the growing of trees."""

    trees: int = setting(50, "number of trees; half as many cost little quality", ge=1, le=100_000)
    max_leaf: Positive = setting(10, "nodes with at most this many instances are not split")
    leaf_labels: Positive = setting(20, "number of labels kept per leaf")
    C_delta: float = setting(
        1.0, "weight of the separators' losses; larger: denser separators; 0.3 for texts", gt=0
    )
    C_r: float = setting(1.0, "weight of the rankings; matters only with several updates", gt=0)
    balanced: bool = setting(
        True, "divide C_delta of each side by its share of the node's instances"
    )
    objective: Literal["nDCG", "nDCG@5", "P@5"] = setting(
        "nDCG", "ranking measure that chooses the sides of a node"
    )
    updates: Positive = setting(1, "how often each node fits its sides and then its separator")
    outer_iterations: Positive = setting(10, "maximum number of Newton steps per separator")
    inner_iterations: Positive = setting(
        10, "maximum number of passes over the features per Newton step"
    )
    seed: int = SEED_SETTING


class GrowTrees(Propensities, FastXML):
    """Settings that growing a shard of trees depends on."""

    weighting: Weighting = WEIGHTING_SETTING

    @property
    def relevant(self) -> dict[str, Any]:
        return self._exclude(*unused_propensities(self.weighting))
