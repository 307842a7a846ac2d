"""What a method is: how a run trains, from its settings to a model.

Rules read methods in a Python that may have none of the jobs' packages, and ``ovaflow --help`` reads their steps: a
module with a method imports where it computes.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from zlib import crc32

from ovaflow.steps import Reads, Step

if TYPE_CHECKING:
    from ovaflow.data.dataset import Dataset
    from ovaflow.estimate.demand import Request
    from ovaflow.estimate.sample import Sample
    from ovaflow.model.model_file import MethodModel
    from ovaflow.settings.configuration import Config
    from ovaflow.settings.models import Section
    from ovaflow.storage.artifact import Artifact
    from ovaflow.training.shares import Share

NOTHING: Mapping[str, Any] = MappingProxyType({})


class File(NamedTuple):
    """A file that a command reads besides the dataset."""

    help: str
    required: bool = True


class Method(ABC):
    """A way to train; a package adds one by an entry point of the group ``ovaflow.methods``.

    A job trains some of the units, labels or what the method has in their place, and keeps them in a shard: an artifact
    with their ``numbers``, ``core_seconds`` and ``peak_rss_bytes``. Merging joins the shards into a model.
    """

    name: ClassVar[str]
    """As in configs and in the ``parameters["train"]["method"]`` of models."""

    settings: ClassVar[str | type]
    """What training reads, as :class:`ovaflow.steps.Reads` names it."""

    section: ClassVar[str | type | None] = None
    """Settings that configs have in a section of the method's name; by default all that training reads."""

    sections: ClassVar[tuple[str, ...]] = ()
    """Sections of a config that the settings are filled from; by default the method's own."""

    steps: ClassVar[Mapping[str, Step]] = NOTHING
    """Steps of its own, before and after its shards."""

    training_files: ClassVar[Mapping[str, File]] = NOTHING
    """Files that a shard is trained from besides the dataset, by their options."""

    merging_files: ClassVar[Mapping[str, File]] = NOTHING

    sampling_files: ClassVar[Mapping[str, File]] = NOTHING

    unit: ClassVar[str] = "labels"
    """What is divided into shards."""

    divided_by_plan: ClassVar[bool] = False
    """Whether a file says what is in each shard, so that their number is not asked for."""

    can_estimate: ClassVar[bool] = True

    sample_size: ClassVar[int] = 300
    """Units that are trained to estimate what all of them take."""

    revisions: ClassVar[Mapping[str, int]] = MappingProxyType({"train-shard": 1, "merge": 1})
    """Raised when the step comes to make other results of the same inputs and settings."""

    small: ClassVar[str] = ""
    """Options with which training is short."""

    earlier_names: ClassVar[Mapping[str, str]] = NOTHING
    """Commands by their names before all methods shared them."""

    # what a method must say

    @property
    @abstractmethod
    def model(self) -> "type[MethodModel]":
        """The class of its models."""

    @property
    @abstractmethod
    def shard(self) -> "type[Artifact]":
        """The class of its shards."""

    @abstractmethod
    def train(
        self,
        dataset: Any,
        numbers: Sequence[int],
        settings: Any,
        threads: int = 1,
        title: str = "train",
        parts: Any = None,
    ) -> "Artifact":
        """A shard with the units of these numbers; ``parts`` keep what is finished, and threads change no result."""

    @abstractmethod
    def join(self, pieces: "list[tuple[Any, int]]", dataset: "Dataset") -> "MethodModel":
        """The model of all units, in their order each the shard that has it and its place there."""

    # what most methods share

    def reads(self, step: str) -> Reads | None:
        """Settings that a step of all methods reads."""
        of_training = Reads(self.settings, self.sections or (self.section_name,))
        return of_training if step in ("train-shard", "estimate") else None

    @property
    def warm_up(self) -> tuple[str, ...]:
        """Commands that compile the kernels, in a folder {0} with a dataset.h5."""
        own = f"{{0}}/{self.name}"
        return (
            f"train-shard {{0}}/dataset.h5 --method={self.name} {self.small} --output={own}-shard.h5",
            f"merge {own}-shard.h5 --method={self.name} --dataset={{0}}/dataset.h5 --output={own}.h5"
            f" --statistics={own}-training.h5",
            f"predict {own}.h5 --dataset={{0}}/dataset.h5 --output={own}-predictions.h5",
        )

    @property
    def section_name(self) -> str:
        return self.name.replace("-", "_")

    def recorded(self, settings: "Section") -> dict[str, Any]:
        """Settings as shards and models record them."""
        from ovaflow.methods import package_of

        package = package_of(self.name)
        return {"method": self.name} | ({"package": package} if package else {}) | settings.relevant

    def open(self, path: Any) -> Any:
        """The training set of a job."""
        from ovaflow.data.dataset import open_dataset

        return open_dataset(path)

    def bring_near(self, dataset: Any, pinning: Any) -> Any:
        """The same, its features on the node where the job runs."""
        from ovaflow.data.dataset import bring_near

        return bring_near(dataset, pinning)

    def units(self, dataset: Any, settings: Any) -> int:
        """How many units there are."""
        return dataset.n_labels

    def numbers(self, units: int, shards: int, shard: int) -> range:
        """Units of a shard: none where there are more shards."""
        return range(shard * units // shards, (shard + 1) * units // shards)

    def share(self, dataset: Any, settings: Any, files: Mapping[str, Any], shard: int, shards: int) -> "Share":
        """What a job trains."""
        from ovaflow.training.shares import Share

        numbers = self.numbers(self.units(dataset, settings), shards, shard)
        train = partial(self.train, numbers=numbers, settings=settings)
        return Share(list(numbers), train, self.recorded(settings), {"dataset": dataset.checksum})

    def describe(self, shard: Any) -> str:
        """What a shard holds, in words."""
        return f"{len(shard.numbers):,} {self.unit}"

    def merge(
        self,
        shards: list,
        dataset: "Dataset",
        settings: Any,
        files: Mapping[str, Any],
        model_path: Any,
        training_path: Any,
    ) -> str:
        """Join shards into a model and write both files; what the model holds, in words.

        Its bytes do not depend on how units were divided into shards.
        """
        from ovaflow.training.shares import open_shards, whole

        opened = open_shards(self, shards, dataset)
        pieces = whole(self, opened, self.units(dataset, self.settings_of({"train": opened[0].parameters})), dataset)
        model = self.join(pieces, dataset)
        model.write(model_path)
        self.training(pieces, opened).write(training_path, dataset=dataset)
        return f"{model.n_labels:,} labels, {model.nonzeros:,} weights"

    def training(self, pieces: Any, shards: Any) -> Any:
        """What the training took."""
        from ovaflow.model.training_file import Training

        seconds, peak = sum(shard.core_seconds for shard in shards), max(shard.peak_rss_bytes for shard in shards)
        return Training(seconds, len(shards), peak, parameters=shards[0].parameters, **self.statistics(pieces))

    def statistics(self, pieces: Any) -> dict[str, Any]:
        """Statistics of the units, as fields of :class:`ovaflow.model.training_file.Training`."""
        return {}

    def settings_of(self, parameters: Mapping[str, Any]) -> Any:
        """Settings of the training of a model, from its parameters."""
        from ovaflow.settings.models import named_model

        model, train = named_model(self.settings), parameters["train"]
        return model.model_validate({name: value for name, value in train.items() if name in model.model_fields})

    def train_model(self, dataset: "Dataset", settings: Any, threads: int = 1) -> "MethodModel":
        """Train in this process: the model that shards of the same training are merged into."""
        share = self.share(dataset, settings, {}, 0, 1)
        done = replace(share.train(dataset, threads=threads), parameters=share.parameters)
        return self.join([(done, place) for place in range(len(share.numbers))], dataset)

    def sample(self, path: Any, settings: Any, files: Mapping[str, Any]) -> "Sample":
        """Time and memory of training some units."""
        from ovaflow.estimate.sample import sample_units

        return sample_units(self, path, settings)

    # what rules ask, of a config

    def inputs_of_shards(self, config: "Config", dataset: str, run: str) -> dict[str, str]:
        """Files that the shards of a run are trained from, by their options."""
        from ovaflow.settings import paths

        return {"dataset": paths.DATASET.format(dataset=dataset)}

    def inputs_of_merging(self, config: "Config", dataset: str, run: str) -> dict[str, str]:
        """Files that shards are merged with, by their options."""
        return {}

    def problem(self, config: "Config", dataset: str, run: str) -> str:
        """Name of an estimate, the same for all runs that train alike."""
        options = self.estimate_options(config, dataset, run)
        return f"{self.name}-{crc32(' '.join(options).encode()):08x}"

    def estimate_options(self, config: "Config", dataset: str, run: str) -> list[str]:
        """Options with which a run is estimated."""
        from ovaflow.settings.inputs import as_options, parameters_of

        return as_options(parameters_of("estimate", config, dataset, run))

    def needs_estimate(self, config: "Config", dataset: str, path: str) -> bool:
        """Whether jobs request what an estimate says, whose file is the one given."""
        return self.can_estimate

    def request(self, config: "Config", run: str, shard: int, shards: int, files: Mapping[str, Any]) -> "Request":
        """Memory and minutes of a job; ``files`` are those of its inputs that say so: estimate, plan and sizes."""
        from ovaflow.estimate.demand import SMALL, read_demand

        if "estimate" not in files:
            return SMALL
        units = self.units_of_run(config, run) or shards
        share = ceil(units / shards) / units
        return read_demand(files["estimate"]).request(share, config.train_of(run).threads)

    def units_of_run(self, config: "Config", run: str) -> int | None:
        """How many units a run has, where its settings say so."""
        return None

    def merging_megabytes(self, labels: int | None, inputs: float, shards: float) -> int:
        """Memory of a job that merges shards, by the sizes of its inputs and of the shards among them."""
        from ovaflow.estimate.demand import PROGRAM

        return int(PROGRAM + 2 * inputs)
