"""FastXML as a method, whose trees are divided into shards."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ovaflow.steps import LOSS_REVISIONS
from ovaflow.training.evenly_divided import EvenlyDividedMethod

if TYPE_CHECKING:
    from ovaflow.dataset.dataset import Dataset
    from ovaflow.methods.fastxml.model_file import ForestModel
    from ovaflow.methods.fastxml.settings import GrowTrees
    from ovaflow.methods.fastxml.training import TreeShard
    from ovaflow.settings.configuration import Config
    from ovaflow.storage.parts import Parts


class FastXMLMethod(EvenlyDividedMethod):
    """The method ``fastxml``."""

    name = "fastxml"
    model = "ovaflow.methods.fastxml.model_file:ForestModel"
    shard = "ovaflow.methods.fastxml.training:TreeShard"
    section = "ovaflow.methods.fastxml.settings:FastXML"
    settings = "ovaflow.methods.fastxml.settings:GrowTrees"
    sections = ("fastxml", "train", "evaluate")
    # separators have the logistic loss
    revisions: ClassVar = {"train-shard": 1 + LOSS_REVISIONS["logistic"], "merge": 1}
    unit = "trees"
    sample_size = 1
    report_sections = ("ovaflow.methods.fastxml.section:SECTION",)
    small = "--trees=1"

    def units(self, dataset: "Dataset", settings: "GrowTrees") -> int:
        """Return the number of trees."""
        return settings.trees

    def units_of_run(self, config: "Config", run: str) -> int:
        """Return the number of trees of a run."""
        return config.section(self.name, run=run).trees

    def train(
        self,
        dataset: "Dataset",
        numbers: Sequence[int],
        settings: "GrowTrees",
        threads: int = 1,
        title: str = "grow",
        parts: "Parts | None" = None,
    ) -> "TreeShard":
        """Grow trees by their numbers."""
        from ovaflow.methods.fastxml.training import grow_trees

        return grow_trees(dataset, numbers, settings, threads, title, parts)

    def describe(self, shard: "TreeShard") -> str:
        """Describe a shard in words."""
        return f"{super().describe(shard)}, {len(shard.forest.children):,} nodes"

    def join(self, pieces: "Sequence[tuple[TreeShard, int]]", dataset: "Dataset") -> "ForestModel":
        """Make the model of all trees."""
        from ovaflow.methods.fastxml.merging import join_shards

        return join_shards(pieces, dataset)

    def statistics(self, pieces: "Sequence[tuple[TreeShard, int]]") -> dict[str, Any]:
        """Compute statistics of the trees."""
        from ovaflow.methods.fastxml.merging import describe_trees

        return {"trees": describe_trees(pieces)}
