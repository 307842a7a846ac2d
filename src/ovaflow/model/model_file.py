"""The model file: sparse weights, names, and all that is needed to predict."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import h5py
import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import LazyNames, Names, write_names
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
    """What every method keeps in its model file; names are loaded on demand.

    Parameters are ``train``, settings of the training, among them ``method``, and ``transform``,
    parameters of the dataset, see :class:`ovaflow.dataset.dataset.Dataset`.
    """

    trained: np.ndarray  # bool (l,); labels without a classifier are never predicted
    counts: np.ndarray  # int64 (l,); training positives, without names of labels
    # of a model in memory; others read their names on demand
    names_in_memory: Names | None = field(default=None, kw_only=True, metadata=NOT_STORED)
    of_method: ClassVar[str]

    def store(self, file) -> None:
        super().store(file)
        write_names(file, self.names)

    @classmethod
    def read_fields(cls, file):
        method = _method_in(read_parameters(file))
        if method != cls.of_method:
            raise InputError(
                f"a model of {method}",
                path=file.filename,
                remedy=f"give a model of {cls.of_method}",
            )
        return super().read_fields(file)

    @classmethod
    def in_memory(cls, dataset, trained, parameters, **parts):
        """A model just trained on a dataset; ``parts`` are what its method adds."""
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
    def bias_feature(self):
        """Number of the bias feature; -1 where there is none."""
        return self.n_features - 1 if self.bias else -1

    @property
    def n_word_features(self):
        """Number of features before those of columns and the bias feature, which come last."""
        return self.n_features - (self.bias != 0) - count_column_features(self.transform)

    @property
    def takes_unscaled(self):
        """Whether it takes rows as they were before they were scaled to length 1."""
        return self.transform.get("unscaled", False)

    @property
    def n_labels(self):
        """Number of labels, untrained ones included."""
        return len(self.trained)

    @cached_property
    def feature_ids(self):
        """Features by name, by ``get``."""
        names = self.feature_names
        return (
            names.numbers
            if isinstance(names, Strings)
            else {name: number for number, name in enumerate(names)}
        )

    @cached_property
    def idf(self):
        """Inverse document frequencies, float32 of shape (d without bias,); None without tf-idf."""
        return self.names.idf

    @property
    def n_columns(self):
        """Columns of instances: features, and after them what else a second stage reads."""
        return self.n_features

    def instances(self, split):
        """A dataset's instances as the model takes them."""
        return split.X

    def with_tokens(self, X, tokens):
        """Features of texts, and what else the model reads of their tokens."""
        return X


class Model(ModelFile):
    """A model that finds labels."""

    probabilistic: ClassVar[bool] = False
    """Whether its scores are probabilities."""

    zero_decides: ClassVar[bool] = False
    """Whether a score above 0 says that a label is right, and one below 0 that it is wrong."""

    @property
    @abstractmethod
    def nonzeros(self) -> int:
        """Number of weights, or of what the method has in their place."""

    @abstractmethod
    def prepare(self):
        """Load or compile the kernels, so that what is timed later is scoring alone."""

    def prepare_for_single(self) -> None:
        """Make, too, what answers single instances fast."""
        self.prepare()

    @abstractmethod
    def top_k(self, X, k, threads=1, quiet=True, allowed=None):
        """Best k labels of each instance: ids int32 and scores float32 (n, k), -1 and -inf where
        there are fewer.

        By falling score, ties by the smaller id; of the labels that are ``allowed``, bool (l,), or
        all.
        """

    @abstractmethod
    def score(self, X, labels):
        """Scores of chosen labels: float32 (n, m)."""

    def score_each(self, X, ids, threads=1):
        """Scores of labels (n, k), other ones for each instance: float32 (n, k)."""
        scores = [self.score(X.part(i, i + 1), labels)[0] for i, labels in enumerate(ids)]
        return np.array(scores, np.float32).reshape(ids.shape)

    @property
    def linear(self) -> "LinearScores | None":
        """What explains scores that are sums over features; None where they are not."""
        return self if isinstance(self, LinearScores) else None

    why_unexplainable: ClassVar[str] = "its method has no weights of labels"
    """Why scores are not sums over features, where they are not."""


class LinearScores(ABC):
    """What a model has besides whose scores are sums over features."""

    @abstractmethod
    def label_weights(self, label, features):
        """Weights of a label at some features."""

    def intercept(self, label):
        """What the score of a label has besides its weights."""
        return 0.0

    @abstractmethod
    def cosines(self, label):
        """Cosines of the weights of a label and of all labels, without the bias feature."""


class MethodModel(Model):
    """A model of one method, in one file: each method has a class of its own."""

    @classmethod
    @abstractmethod
    def what_scores_are(cls, settings) -> str:
        """What scores mean after a training with these settings, in a sentence or two."""


@dataclass(frozen=True)
class LabelWeights(ModelFile):
    """The weights of a one-vs-all model, as training and merging need them; arrays are mapped."""

    # (l, d); a row for each label, the bias feature last if there is one; weights below
    # ``parameters["prune"]`` are dropped; a CSR in memory alone
    weights: WeightRows | CSR

    of_method: ClassVar[str] = ONE_VS_ALL

    @property
    def n_features(self):
        return self.weights.n_columns


def write_model(
    path,
    weights_per_label,
    pieces,
    n_features,
    trained,
    counts,
    names,
    parameters,
    inputs,
    rounds=False,
) -> None:
    """Write the model file from pieces, CSRs of labels one after the other, and round their weights
    if it is asked.
    """
    indptr = offsets(weights_per_label)
    with create_artifact(path, ModelFile.kind, parameters, inputs) as file:
        group = file.create_group("weights")
        group.attrs["n_columns"] = np.int64(n_features)
        data = create_array(
            group, "data", shape=indptr[-1:], dtype=np.int16 if rounds else np.float32
        )
        indices = create_array(
            group, "indices", shape=indptr[-1:], dtype=np.uint16 if rounds else np.int32
        )
        start = 0
        ends = [np.zeros(1, np.int64)]
        steps = []
        for piece in pieces:
            end = start + len(piece.data)
            require_finite(piece.data, start, indptr, range(len(indptr) - 1))
            if rounds:
                piece = round_weights(piece)
                steps.append(piece.steps)
            data[start:end] = piece.data
            indices[start:end] = piece.indices
            ends.append(start + piece.indptr[1:])
            start = end
        create_array(group, "indptr", np.concatenate(ends))
        if rounds:
            create_array(group, "steps", np.concatenate(steps))
        create_array(file, "trained", np.asarray(trained, bool))
        create_array(file, "counts", np.asarray(counts, np.int64))
        write_names(file, names)


@dataclass(frozen=True, kw_only=True)
class ModelHeader(Artifact, kind=ModelFile.kind):
    """What a model file says of itself, whatever its method."""

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
        """What its training depended on: the same for models that differ only after it."""
        return str(sorted(self.parameters.get("train", {}).items())), self.inputs.get("dataset")


def _method_in(parameters):
    return parameters.get("train", {}).get("method", ONE_VS_ALL)


def open_any_model(path):
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


def what_scores_are(settings):
    """What the scores of a model trained with these settings mean, in a sentence or two."""
    return import_reference(find_method(settings.get("method", ONE_VS_ALL)).model).what_scores_are(
        settings
    )


def require_finite(data, start, indptr, labels, path=None) -> None:
    """Refuse weights that are not finite, naming the label; the first is number ``start`` of all."""
    finite = np.isfinite(data)
    if not finite.all():
        place = finite.argmin()
        label = labels[np.searchsorted(indptr, start + place, "right") - 1]
        message = f"not written: a weight of label {label} is {data[place]}"
        raise InputError(message, path=path, remedy="scale the features, or lower C")
