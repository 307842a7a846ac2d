"""Contract of every artifact: its fields there and back, and what it was made from.

A new one is ten lines.
"""

import importlib
import pkgutil
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from damage import find_array_offset, flip_bit

import ovaflow
from ovaflow.console.errors import InputError
from ovaflow.initialization.all_negative import Root
from ovaflow.initialization.means import Means
from ovaflow.initialization.spanning_tree import LabelTree
from ovaflow.methods.fastxml.model_file import ForestModel
from ovaflow.methods.fastxml.training import TreeShard
from ovaflow.methods.rembrandt.embedding import Embedding
from ovaflow.methods.rembrandt.model_file import EmbeddingModel
from ovaflow.methods.rembrandt.projection import Projected
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.training_file import Shard, Training
from ovaflow.prediction.predictions import Predictions
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.sparse.csr import CSR, from_scipy
from ovaflow.storage.artifact import AT_ROOT, NOT_STORED, Artifact, MayBeInfinite
from ovaflow.storage.hdf5 import open_artifact

OF_NAMES = {
    "means": Means,
    "tree": LabelTree,
    "root": Root,
    "shard0": Shard,
    "training": Training,
    "forest_training": Training,
    "embedded_training": Training,
    "model": OneVsAll,
    "forest": ForestModel,
    "embedded": EmbeddingModel,
    "predictions": Predictions,
    "forest_predictions": Predictions,
    "reranker": Reranker,
    "tree_shard": TreeShard,
    "embedding": Embedding,
    "projected": Projected,
}
"""Classes of the artifacts of a finished run."""


def open_named_artifact(finished, name):
    path = finished[name]
    kind = OF_NAMES[name]
    if kind is Reranker:
        return Reranker.open(path, model=OneVsAll.open(finished["model"]))
    return kind.open(path)


def kinds_below(kind):
    for each in kind.__subclasses__():
        if each.__module__.startswith("ovaflow."):
            yield each.kind
        yield from kinds_below(each)


def test_every_kind_is_here() -> None:
    for module in pkgutil.walk_packages(ovaflow.__path__, "ovaflow."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert set(kinds_below(Artifact)) == {each.kind for each in OF_NAMES.values()}


@pytest.mark.parametrize("name", OF_NAMES)
def test_there_and_back(finished, name, tmp_path) -> None:
    # beside the others, since a second stage names models by their way from it
    open_named_artifact(finished, name).write(
        again := finished.path / "msi" / f"{tmp_path.name}.h5"
    )
    try:
        assert again.read_bytes() == finished[name].read_bytes()
    finally:
        again.unlink()


@pytest.mark.parametrize("name", OF_NAMES)
def test_what_was_made_from_something_else_is_refused(finished, name) -> None:
    artifact = open_named_artifact(finished, name)
    assert artifact.made_from
    for kind in artifact.made_from:
        other = SimpleNamespace(checksum="another", path="other.h5")
        with pytest.raises(
            InputError, match=rf"stale: made from another {kind} than other\.h5; \S+ \S+"
        ):
            artifact.require(**{kind: other})
        other.checksum = artifact.inputs[kind]
        artifact.require(**{kind: other})


class Pair(NamedTuple):
    left: np.ndarray
    right: int
    further: CSR | None = None


@dataclass(frozen=True)
class Thing(Artifact, kind="thing", made_from=("dataset",), remedy="make the thing again"):
    values: MayBeInfinite
    matrix: CSR
    pair: Pair
    amount: float
    counts: dict = field(metadata=AT_ROOT)
    absent: np.ndarray | None = None
    seen: str = field(default="", metadata=NOT_STORED)


THING = Thing(
    np.array([1.0, np.inf]),
    from_scipy(np.eye(3)),
    Pair(np.arange(2000), 7),
    0.5,
    {"of a": np.arange(3)},
    seen="here",
    parameters={"C": 1.0},
)


def test_a_new_artifact_is_its_fields(tmp_path) -> None:
    dataset = SimpleNamespace(checksum="abc", path="dataset.h5")
    THING.write(path := tmp_path / "thing.h5", dataset=dataset)
    ours = Thing.open(path, dataset=dataset)
    assert ours.values.tolist() == [1.0, np.inf]
    np.testing.assert_array_equal(ours.matrix.to_scipy().toarray(), np.eye(3))
    assert (ours.pair.left.tolist(), ours.pair.right, ours.pair.further) == (
        list(range(2000)),
        7,
        None,
    )
    assert (ours.amount, ours.absent, ours.seen, ours.path) == (0.5, None, "", path)
    assert {name: counts.tolist() for name, counts in ours.counts.items()} == {
        "values": [1.0, np.inf],
        "of a": [0, 1, 2],
    }
    assert (ours.parameters, ours.inputs) == ({"C": 1.0}, {"dataset": "abc"})
    with open_artifact(path, "thing") as file:
        assert sorted(file) == ["matrix", "of a", "pair", "values"]
    with pytest.raises(
        InputError, match=r"stale: made from another dataset than b\.h5; make the thing again"
    ):
        Thing.open(path, dataset=SimpleNamespace(checksum="def", path="b.h5"))


def test_a_flipped_bit_of_a_new_artifact_is_found(tmp_path) -> None:
    THING.write(path := tmp_path / "thing.h5")
    flip_bit(path, find_array_offset(path, "pair/left"))
    damage = (
        r"damaged \(values of /pair/left do not match their checksum\); delete it and make "
        r"it again$"
    )
    with pytest.raises(InputError, match=damage):
        Thing.open(path)
