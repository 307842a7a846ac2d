"""The interface of methods, which train the models of runs.

Rules read methods in a Python that may have none of the jobs' packages, and ``ovaflow --help``
reads their steps: a module with a method imports where it computes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from zlib import crc32

from ovaflow.registry import find_package, import_reference
from ovaflow.steps import Step, StepSettings

if TYPE_CHECKING:
    from ovaflow.dataset.dataset import Dataset
    from ovaflow.estimate.demand import Request
    from ovaflow.estimate.sample import Sample
    from ovaflow.model.model_file import MethodModel
    from ovaflow.settings.configuration import Config
    from ovaflow.settings.section import Section
    from ovaflow.storage.artifact import Artifact
    from ovaflow.training.shares import Share

EMPTY_MAPPING: Mapping[str, Any] = MappingProxyType({})


class InputFile(NamedTuple):
    """A file that a command reads besides the dataset."""

    help: str
    required: bool = True


class Method(ABC):
    """A way to train; a package adds one by an entry point of the group ``ovaflow.methods``.

    Jobs train shards, each some units of the model, labels or what the method has in their place.
    Merging joins the shards. :class:`ovaflow.training.evenly_divided.EvenlyDividedMethod` does
    both for most methods.
    """

    name: ClassVar[str]
    """Name in configs and in the ``parameters["train"]["method"]`` of models."""

    model: "ClassVar[str | type[MethodModel]]"
    """The class of its models, or its place, see :func:`ovaflow.registry.placed`."""

    shard: "ClassVar[str | type[Artifact]]"
    """The class of its shards, likewise."""

    settings: ClassVar[str | type]
    """Settings that training reads, as :class:`ovaflow.steps.StepSettings` names it."""

    section: ClassVar[str | type | None] = None
    """Settings that configs have in a section of the method's name; by default all that training
    reads.
    """

    sections: ClassVar[tuple[str, ...]] = ()
    """Sections of a config that the settings are filled from; by default the method's own."""

    steps: ClassVar[Mapping[str, Step]] = EMPTY_MAPPING
    """Steps of its own, before and after its shards."""

    training_steps: ClassVar[tuple[str, ...]] = ("train-shard",)
    """Steps whose results are of one training: runs with the same settings for them share it."""

    training_files: ClassVar[Mapping[str, InputFile]] = EMPTY_MAPPING
    """Files that a shard is trained from besides the dataset, by their options."""

    merging_files: ClassVar[Mapping[str, InputFile]] = EMPTY_MAPPING

    sampling_files: ClassVar[Mapping[str, InputFile]] = EMPTY_MAPPING

    unit: ClassVar[str] = "labels"
    """Name of the things that are divided into shards, in the plural."""

    sampled: ClassVar[str] = ""
    """Name of the units of which an estimate takes a sample; by default all."""

    divided_by_plan: ClassVar[bool] = False
    """True if a file lists the units of each shard, so that their number is not an option."""

    revisions: ClassVar[Mapping[str, int]] = MappingProxyType({"train-shard": 1, "merge": 1})
    """Revision of each step, raised when it makes other results of the same inputs and settings."""

    report_sections: ClassVar[tuple[str, ...]] = ()
    """Sections of the report for its runs, see :class:`ovaflow.report.section.ReportSection`, as
    ``package.module:name``.
    """

    small: ClassVar[str] = ""
    """Options of the command line with which training is short."""

    sample: "Callable[[Any, Any, Mapping[str, Any]], Sample] | None" = None
    """Function that measures time and memory of training some units of a dataset file, with
    settings and files; None for methods without an estimate.
    """

    @abstractmethod
    def share(
        self, dataset: Any, settings: Any, files: Mapping[str, Any], shard: int, shards: Any
    ) -> "Share":
        """Describe what a job trains: shard number ``shard`` of ``shards``."""

    @abstractmethod
    def describe(self, shard: Any) -> str:
        """Describe the contents of a shard in words."""

    @abstractmethod
    def merge(
        self,
        shards: Sequence[Any],
        dataset: "Dataset",
        settings: Any,
        files: Mapping[str, Any],
        model_path: Any,
        training_path: Any,
    ) -> str:
        """Join shards into a model, write both files, and describe the model in words.

        The model's bytes do not depend on how units were divided into shards.
        """

    @abstractmethod
    def train_model(self, dataset: "Dataset", settings: Any, threads: int = 1) -> "MethodModel":
        """Train in this process: the model that shards of the same training are merged into."""

    def open(self, path: Any) -> Any:
        """Open the training set of a job."""
        from ovaflow.dataset.dataset import open_dataset

        return open_dataset(path)

    def copy_to_local_node(self, dataset: Any, pinning: Any) -> Any:
        """Copy the features of a training set to the memory of the node where the job runs."""
        from ovaflow.dataset.dataset import copy_to_local_node

        return copy_to_local_node(dataset, pinning)

    def recorded(self, settings: "Section") -> dict[str, Any]:
        """Select the settings that shards and models record."""
        package = find_package(self.name)
        recorded = {"method": self.name}
        if package:
            recorded["package"] = package
        return recorded | settings.relevant

    def find_revision(self, step: str, settings: Any) -> int:
        """Find the revision of a step of all methods under its settings."""
        return self.revisions[step]

    def settings_of(self, parameters: Mapping[str, Any]) -> Any:
        """Read the settings of the training of a model from its parameters."""
        model = import_reference(self.settings)
        train = parameters["train"]
        return model.model_validate(
            {name: value for name, value in train.items() if name in model.model_fields}
        )

    @property
    def section_name(self) -> str:
        return self.name.replace("-", "_")

    def reads(self, step: str) -> StepSettings | None:
        """Name the settings that a step of all methods reads; None if it reads none."""
        of_training = StepSettings(self.settings, self.sections or (self.section_name,))
        return of_training if step in ("train-shard", "estimate") else None

    @property
    def warm_up(self) -> tuple[str, ...]:
        """Commands that compile the kernels, in a folder {0} with a dataset.h5."""
        own = f"{{0}}/{self.name}"
        return (
            f"train-shard {{0}}/dataset.h5 --method={self.name} {self.small}"
            f" --output={own}-shard.h5",
            f"merge {own}-shard.h5 --method={self.name} --dataset={{0}}/dataset.h5"
            f" --output={own}.h5 --statistics={own}-training.h5",
            f"predict {own}.h5 --dataset={{0}}/dataset.h5 --output={own}-predictions.h5",
        )

    # for the rules of the workflow, which know the config

    def name_shared(self, config: "Config", dataset: str, run: str) -> dict[str, str]:
        """Name results that runs share besides the training, by the wildcards of their rules."""
        return {}

    def inputs_of_shards(self, config: "Config", dataset: str, run: str) -> dict[str, str]:
        """Name the files that the shards of a run are trained from, by their options."""
        from ovaflow.settings import paths

        return {"dataset": paths.DATASET.format(dataset=dataset)}

    def inputs_of_merging(self, config: "Config", dataset: str, run: str) -> dict[str, str]:
        """Name the files that shards are merged with, by their options."""
        return {}

    def estimate_options(self, config: "Config", dataset: str, run: str) -> list[str]:
        """List the options with which a run is estimated."""
        from ovaflow.settings.inputs import format_options, make_step_parameters

        return format_options(make_step_parameters("estimate", config, dataset, run))

    def problem(self, config: "Config", dataset: str, run: str) -> str:
        """Name an estimate: the same for all runs that train alike."""
        options = self.estimate_options(config, dataset, run)
        return f"{self.name}-{crc32(' '.join(options).encode()):08x}"

    def needs_estimate(self, config: "Config", dataset: str, path: str) -> bool:
        """Check if jobs request the time and memory of an estimate, which has the path given."""
        return self.sample is not None

    @abstractmethod
    def request(
        self,
        config: "Config",
        run: str,
        shard: int,
        shards: int,
        threads: int,
        files: Mapping[str, Any],
    ) -> "Request":
        """Compute memory and minutes of a job.

        ``files`` are those of its inputs from which they follow: estimate, plan and sizes.
        """

    def merging_megabytes(self, labels: int, inputs: float, shards: float) -> int:
        """Compute the memory of a job that merges shards, in megabytes.

        ``inputs`` is the size of all its inputs, and ``shards`` that of the shards among them.
        """
        from ovaflow.estimate.demand import PROGRAM_MEGABYTES

        return int(PROGRAM_MEGABYTES + 2 * inputs)
