"""Methods whose units are divided evenly into shards, and joined in their order."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

from ovaflow.registry import import_reference
from ovaflow.training.method import Method

if TYPE_CHECKING:
    from ovaflow.dataset.dataset import Dataset
    from ovaflow.estimate.demand import Request
    from ovaflow.estimate.sample import Sample
    from ovaflow.model.model_file import MethodModel
    from ovaflow.settings.configuration import Config
    from ovaflow.storage.parts import Parts
    from ovaflow.training.shares import Share


class EvenlyDividedMethod(Method):
    """A method that trains any units by their numbers.

    Its shards have ``numbers``, ``core_seconds`` and ``peak_rss_bytes``.
    """

    sample_size: ClassVar[int] = 300
    """Number of units that are trained to estimate the time and memory of all."""

    @abstractmethod
    def train(
        self,
        dataset: Any,
        numbers: Sequence[int],
        settings: Any,
        threads: int = 1,
        title: str = "train",
        parts: "Parts | None" = None,
    ) -> Any:
        """Train a shard with the units of these numbers.

        ``parts`` keep finished units for a job that continues. Threads change no result.
        """

    @abstractmethod
    def join(self, pieces: Sequence[tuple[Any, int]], dataset: "Dataset") -> Any:
        """Join all units into a model: for each in its order, its shard and its place there."""

    def units(self, dataset: "Dataset", settings: Any) -> int:
        """Count the units of a dataset."""
        return dataset.n_labels

    def units_of_run(self, config: "Config", run: str) -> int | None:
        """Count the units of a run from its settings; None if that needs the dataset."""
        return None

    def statistics(self, pieces: Sequence[tuple[Any, int]]) -> dict[str, Any]:
        """Collect statistics of the units.

        They are fields of :class:`ovaflow.model.training_file.Training`.
        """
        return {}

    def share(
        self, dataset: Any, settings: Any, files: Mapping[str, Any], shard: int, shards: int
    ) -> "Share":
        from ovaflow.training.shares import Share

        units = self.units(dataset, settings)
        # none where there are more shards
        numbers = range(shard * units // shards, (shard + 1) * units // shards)
        train = partial(self.train, numbers=numbers, settings=settings)
        return Share(numbers, train, self.recorded(settings), {"dataset": dataset.checksum})

    def describe(self, shard: Any) -> str:
        return f"{len(shard.numbers):,} {self.unit}"

    def merge(
        self,
        shards: Sequence[Any],
        dataset: "Dataset",
        settings: Any,
        files: Mapping[str, Any],
        model_path: Any,
        training_path: Any,
    ) -> str:
        from ovaflow.model.training_file import Training
        from ovaflow.training.shares import locate_units, open_shards

        opened = open_shards(import_reference(self.shard), shards, dataset)
        parameters = opened[0].parameters
        n_units = self.units(dataset, self.settings_of({"train": parameters}))
        pieces = locate_units(opened, self.unit, n_units, dataset)
        model = self.join(pieces, dataset)
        model.write(model_path)
        seconds = sum(shard.core_seconds for shard in opened)
        peak = max(shard.peak_rss_bytes for shard in opened)
        training = Training(
            seconds, len(opened), peak, parameters=parameters, **self.statistics(pieces)
        )
        training.write(training_path, dataset=dataset)
        return f"{model.n_labels:,} labels, {model.nonzeros:,} weights"

    def train_model(self, dataset: "Dataset", settings: Any, threads: int = 1) -> "MethodModel":
        share = self.share(dataset, settings, {}, 0, 1)
        shard = replace(share.train(dataset, threads=threads), parameters=share.parameters)
        pieces = [(shard, place) for place in range(len(share.numbers))]
        return self.join(pieces, dataset)

    def sample(self, path: Any, settings: Any, files: Mapping[str, Any]) -> "Sample":
        from ovaflow.estimate.sample import sample_units

        return sample_units(self, path, settings)

    def request(
        self,
        config: "Config",
        run: str,
        shard: int,
        shards: int,
        threads: int,
        files: Mapping[str, Any],
    ) -> "Request":
        from ovaflow.estimate.demand import read_demand

        units = self.units_of_run(config, run) or shards
        share = ceil(units / shards) / units
        return read_demand(files["estimate"]).request(share, threads)
