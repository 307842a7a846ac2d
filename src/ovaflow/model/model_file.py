"""Model files: weights, names, and all that is needed to predict."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import h5py
import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.dataset.dataset import Dataset, LazyNames, Names, Split, write_names
from ovaflow.features.columns import count_column_features
from ovaflow.registry import ONE_VS_ALL, find_method, import_reference
from ovaflow.sparse.csr import CSR, offsets
from ovaflow.sparse.weight_rows import WeightRows, round_weights
from ovaflow.storage.arrays import Strings, create_array, map_array
from ovaflow.storage.artifact import NOT_STORED, Artifact
from ovaflow.storage.errors import read_text_attribute
from ovaflow.storage.hdf5 import create_artifact, open_artifact, read_parameters


@dataclass(frozen=True)
class ModelFile(
    Artifact,
    LazyNames,
    ABC,
    kind="model",
    made_from=("dataset",),
    remedy="give the dataset that it was trained on",
):
    """Contents of the model files of all methods; names are loaded on demand.

    Parameters are ``train``, settings of the training, among them ``method``, and ``transform``,
    parameters of the dataset, see :class:`ovaflow.dataset.dataset.Dataset`.
    """

    trained: np.ndarray  # bool (l,); labels without a classifier are never predicted
    counts: np.ndarray  # int64 (l,); training positives, without names of labels
    # of a model in memory; others read their names on demand
    names_in_memory: Names | None = field(default=None, kw_only=True, metadata=NOT_STORED)
    of_method: ClassVar[str]

    def store(self, file: h5py.File) -> None:
        super().store(file)
        write_names(file, self.names)

    @classmethod
    def read_fields(cls, file: h5py.File) -> dict[str, Any]:
        method = _method_in(read_parameters(file))
        if method != cls.of_method:
            raise InputError(
                f"a model of {method}",
                path=file.filename,
                remedy=f"give a model of {cls.of_method}",
            )
        return super().read_fields(file)

    @classmethod
    def in_memory(
        cls, dataset: Dataset, trained: np.ndarray, parameters: dict[str, Any], **parts: Any
    ) -> Self:
        """Make a model that was just trained on a dataset; ``parts`` are what its method adds."""
        return cls(
            trained=trained,
            counts=dataset.counts,
            path=dataset.path,
            parameters={"transform": dataset.parameters} | parameters,
            inputs={"dataset": dataset.checksum},
            names_in_memory=dataset.names,
            **parts,
        )

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features, bias feature included."""

    @property
    def method(self) -> str:
        return _method_in(self.parameters)

    @property
    def transform(self) -> dict[str, Any]:
        return self.parameters.get("transform", {})

    @property
    def bias(self) -> float:
        """Value of the bias feature, the last one; 0 where there is none."""
        return float(self.transform.get("bias", 0))

    @property
    def bias_feature(self) -> int:
        """Number of the bias feature; -1 where there is none."""
        return self.n_features - 1 if self.bias else -1

    @property
    def n_text_features(self) -> int:
        """Number of features before those of columns and the bias feature, which come last."""
        return self.n_features - (self.bias != 0) - count_column_features(self.transform)

    @property
    def takes_unscaled(self) -> bool:
        """True if it takes rows as they were before they were scaled to length 1."""
        return self.transform.get("unscaled", False)

    @property
    def n_labels(self) -> int:
        """Number of labels, untrained ones included."""
        return len(self.trained)

    @cached_property
    def feature_ids(self) -> Any:
        """Numbers of features by their names, as a mapping with ``get``."""
        names = self.feature_names
        if isinstance(names, Strings):
            return names.numbers
        return {name: number for number, name in enumerate(names)}

    @cached_property
    def idf(self) -> np.ndarray | None:
        """Inverse document frequencies, float32 of shape (d without bias,); None without tf-idf."""
        return self.names.idf

    @property
    def n_columns(self) -> int:
        """Columns of instances: features, and after them columns for a second stage."""
        return self.n_features

    def instances(self, split: Split) -> CSR:
        """Take the instances of a part of a dataset as the model reads them."""
        return split.X

    def with_tokens(self, X: CSR, tokens: Any) -> CSR:
        """Add to the features of texts the columns that the model reads from their tokens."""
        return X

    def knows_word(self, word: str) -> bool:
        """Return whether these columns tell a word."""
        return False


class Model(ModelFile):
    """A model that finds labels."""

    probabilistic: ClassVar[bool] = False
    """True if its scores are probabilities."""

    zero_decides: ClassVar[bool] = False
    """True if a score above 0 says that a label is right, and one below 0 that it is wrong."""

    @property
    @abstractmethod
    def nonzeros(self) -> int:
        """Number of weights, or of the method's other parameters."""

    @abstractmethod
    def prepare(self) -> None:
        """Load or compile the kernels, so that timings afterwards are scoring alone."""

    def prepare_for_single(self) -> None:
        """Prepare for fast answers to single instances, too."""
        self.prepare()

    @abstractmethod
    def top_k(
        self,
        X: CSR,
        k: int,
        threads: int = 1,
        *,
        quiet: bool = True,
        allowed: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the best k labels of each instance.

        Parameters
        ----------
        X
            Instances.
        k
            Number of labels.
        threads
            Number of threads; results do not depend on it.
        quiet
            False to report progress.
        allowed
            Bool (l,): labels that may be found; by default all.

        Returns
        -------
        ids : int32 (n, k)
            By falling score, ties by the smaller id; -1 where there are fewer.
        scores : float32 (n, k)
            -inf where there are fewer.
        """

    @abstractmethod
    def score(self, X: CSR, labels: np.ndarray) -> np.ndarray:
        """Score chosen labels: float32 (n, m)."""

    def score_each(self, X: CSR, ids: np.ndarray, threads: int = 1) -> np.ndarray:
        """Score labels (n, k), other ones for each instance: float32 (n, k)."""
        scores = [self.score(X.part(i, i + 1), labels)[0] for i, labels in enumerate(ids)]
        return np.array(scores, np.float32).reshape(ids.shape)

    @property
    def linear(self) -> "LinearScores | None":
        """The model itself if its scores are sums over features, which explain them; else None."""
        return self if isinstance(self, LinearScores) else None

    why_unexplainable: ClassVar[str] = "its method has no weights of labels"
    """Reason why scores cannot be explained, where they are not sums over features."""


class LinearScores(ABC):
    """Additional methods of a model whose scores are sums over features."""

    @abstractmethod
    def label_weights(self, label: int, features: np.ndarray | slice) -> np.ndarray:
        """Read the weights of a label at some features."""

    def intercept(self, label: int) -> float:
        """Compute the constant term of a label's score."""
        return 0.0

    @abstractmethod
    def cosines(self, label: int) -> np.ndarray:
        """Compute the cosines of a label's weights and those of all labels, without the bias."""


class MethodModel(Model):
    """A model of one method, in one file: each method has a class of its own."""

    @classmethod
    @abstractmethod
    def what_scores_are(cls, settings: Mapping[str, Any]) -> str:
        """Describe the scores of a model trained with these settings, in a sentence or two."""


@dataclass(frozen=True)
class LabelWeights(ModelFile):
    """The weights of a one-vs-all model, as training and merging need them; arrays are mapped."""

    # (l, d); a row for each label, the bias feature last if there is one; weights below
    # ``parameters["prune"]`` are dropped; a CSR in memory alone
    weights: WeightRows | CSR

    of_method: ClassVar[str] = ONE_VS_ALL

    @property
    def n_features(self) -> int:
        return self.weights.n_columns


class ModelDescription(NamedTuple):
    """All of a one-vs-all model but its weights."""

    trained: np.ndarray  # (l,), false for labels without a classifier
    counts: np.ndarray  # (l,), training positives
    names: Names
    parameters: dict[str, Any]
    inputs: dict[str, str]  # checksums of the files that it is made from, by kind


def write_model(
    path: StrPath,
    weights_per_label: np.ndarray | Sequence[int],
    pieces: Iterable[CSR],
    n_features: int,
    description: ModelDescription,
    *,
    rounds: bool = False,
) -> None:
    """Write a model file piece by piece.

    Parameters
    ----------
    path
        The file.
    weights_per_label
        Number of weights of each label.
    pieces
        Weights of labels, one piece after the other.
    n_features
        Number of features, bias feature included.
    description
        The rest of the model.
    rounds
        True to round the weights to 16 bits.
    """
    indptr = offsets(weights_per_label)
    parameters = description.parameters
    with create_artifact(path, ModelFile.kind, parameters, description.inputs) as file:
        group = file.create_group("weights")
        group.attrs["n_columns"] = np.int64(n_features)
        data_dtype = np.int16 if rounds else np.float32
        indices_dtype = np.uint16 if rounds else np.int32
        shape = (int(indptr[-1]),)
        data = create_array(group, "data", shape=shape, dtype=data_dtype)
        indices = create_array(group, "indices", shape=shape, dtype=indices_dtype)
        start = 0
        ends = [np.zeros(1, np.int64)]
        steps: list[Any] = []
        for piece in pieces:
            end = start + len(piece.data)
            require_finite(piece.data, start, indptr, range(len(indptr) - 1))
            weights: CSR | WeightRows = piece
            if rounds:
                rounded = round_weights(piece)
                steps.append(rounded.steps)
                weights = rounded
            data[start:end] = weights.data
            indices[start:end] = weights.indices
            ends.append(start + weights.indptr[1:])
            start = end
        create_array(group, "indptr", np.concatenate(ends))
        if rounds:
            create_array(group, "steps", np.concatenate(steps))
        create_array(file, "trained", np.asarray(description.trained, bool))
        create_array(file, "counts", np.asarray(description.counts, np.int64))
        write_names(file, description.names)


@dataclass(frozen=True, kw_only=True)
class ModelHeader(Artifact, kind=ModelFile.kind):
    """Header of a model file of any method."""

    n_trained: int  # labels with a classifier
    version: str  # of the ovaflow that wrote it

    @classmethod
    def read_fields(cls, file: h5py.File) -> dict[str, Any]:
        return {
            "n_trained": int(map_array(file["trained"]).sum()),
            "version": read_text_attribute(file, "ovaflow_version"),
        }

    @property
    def method(self) -> str:
        return _method_in(self.parameters)

    @property
    def training(self) -> tuple[str, str | None]:
        """Settings and data of its training: the same for models that differ only after it."""
        return str(sorted(self.parameters.get("train", {}).items())), self.inputs.get("dataset")


def _method_in(parameters: Mapping[str, Any]) -> str:
    """Read the method from the parameters of a model."""
    return parameters.get("train", {}).get("method", ONE_VS_ALL)


def open_any_model(path: StrPath) -> Any:
    """Open a model file of any method."""
    with open_artifact(path, ModelFile.kind) as file:
        parameters = read_parameters(file)
    method = _method_in(parameters)
    try:
        found = find_method(method)
    except InputError:
        package = parameters.get("train", {}).get("package", "")
        remedy = (
            f"install {package}" if package else "use the ovaflow that wrote it, or a newer one"
        )
        raise InputError(
            f"a model of {method}, which is not installed here", path=path, remedy=remedy
        ) from None
    return import_reference(found.model).open(path)


def what_scores_are(settings: Mapping[str, Any]) -> str:
    """Describe the scores of a model trained with these settings, in a sentence or two."""
    return import_reference(find_method(settings.get("method", ONE_VS_ALL)).model).what_scores_are(
        settings
    )


def require_finite(
    data: np.ndarray,
    start: int,
    indptr: np.ndarray,
    labels: Sequence[int] | np.ndarray,
    path: StrPath | None = None,
) -> None:
    """Refuse weights that are not finite, naming the label.

    Parameters
    ----------
    data
        The weights, of which the first is number ``start`` of all.
    start
        See ``data``.
    indptr
        First weight of each row, and the end of the last one.
    labels
        Label of each row.
    path
        The file, for the message.
    """
    finite = np.isfinite(data)
    if not finite.all():
        first = finite.argmin()
        label = labels[np.searchsorted(indptr, start + first, "right") - 1]
        message = f"not written: a weight of label {label} is {data[first]}"
        raise InputError(message, path=path, remedy="scale the features, or lower C")
