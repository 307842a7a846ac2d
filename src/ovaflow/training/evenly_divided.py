"""Methods whose units are divided evenly into shards, and joined from these in their order."""

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from math import ceil
from typing import ClassVar

from ovaflow.registry import import_reference
from ovaflow.training.method import Method


class EvenlyDividedMethod(Method):
    """A method that trains any units by their numbers; its shards have ``numbers`` and the times of
    a training.
    """

    sample_size: ClassVar[int] = 300
    """Units that are trained to estimate what all of them take."""

    @abstractmethod
    def train(self, dataset, numbers, settings, threads=1, title="train", parts=None):
        """A shard with the units of these numbers; ``parts`` keep what is finished, and threads
        change no result.
        """

    @abstractmethod
    def join(self, pieces, dataset):
        """The model of all units, in their order each the shard that has it and its place there."""

    def units(self, dataset, settings):
        """How many units there are."""
        return dataset.n_labels

    def units_of_run(self, config, run):
        """How many units a run has, where its settings say so; None where only the dataset does."""
        return None

    def statistics(self, pieces):
        """Statistics of the units, as fields of :class:`ovaflow.model.training_file.Training`."""
        return {}

    def share(self, dataset, settings, files, shard, shards):
        from ovaflow.training.shares import Share

        units = self.units(dataset, settings)
        # none where there are more shards
        numbers = range(shard * units // shards, (shard + 1) * units // shards)
        train = partial(self.train, numbers=numbers, settings=settings)
        return Share(numbers, train, self.recorded(settings), {"dataset": dataset.checksum})

    def describe(self, shard):
        return f"{len(shard.numbers):,} {self.unit}"

    def merge(self, shards, dataset, settings, files, model_path, training_path):
        from ovaflow.model.training_file import Training
        from ovaflow.training.shares import locate_units, open_shards

        opened = open_shards(import_reference(self.shard), shards, dataset)
        parameters = opened[0].parameters
        pieces = locate_units(
            opened, self.unit, self.units(dataset, self.settings_of({"train": parameters})), dataset
        )
        model = self.join(pieces, dataset)
        model.write(model_path)
        seconds = sum(shard.core_seconds for shard in opened)
        peak = max(shard.peak_rss_bytes for shard in opened)
        training = Training(
            seconds, len(opened), peak, parameters=parameters, **self.statistics(pieces)
        )
        training.write(training_path, dataset=dataset)
        return f"{model.n_labels:,} labels, {model.nonzeros:,} weights"

    def train_model(self, dataset, settings, threads=1):
        share = self.share(dataset, settings, {}, 0, 1)
        done = replace(share.train(dataset, threads=threads), parameters=share.parameters)
        return self.join([(done, place) for place in range(len(share.numbers))], dataset)

    def sample(self, path, settings, files):
        from ovaflow.estimate.sample import sample_units

        return sample_units(self, path, settings)

    def request(self, config, run, shard, shards, threads, files):
        from ovaflow.estimate.demand import read_demand

        units = self.units_of_run(config, run) or shards
        share = ceil(units / shards) / units
        return read_demand(files["estimate"]).request(share, threads)
