"""The file of a second stage: trees and evidence as plain arrays, bound to the model whose candidates it ranks."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.reranking.boosted_trees import BoostedTrees
from ovaflow.reranking.company import Company
from ovaflow.reranking.evidence import COLUMNS, Evidence
from ovaflow.reranking.names import LabelNames
from ovaflow.reranking.neighbours import Neighbours
from ovaflow.storage.arrays import create_array, map_array, read_csr, write_csr
from ovaflow.storage.artifact import checksum_of, create_artifact, inputs_of, open_artifact, parameters_of

KIND = "reranker"

FILE_NAME = "reranker.h5"
"""Next to the model that it belongs to."""


@dataclass(frozen=True)
class Reranker:
    """A second stage; without trees and evidence where it is not used."""

    # how it was fitted; ``check``: what it was worth on held-out texts that it had not seen;
    # ``unused``: why it is not used
    parameters: dict
    inputs: dict  # checksum of ``model``, and of what it was fitted to
    trees: BoostedTrees | None = None
    evidence: Evidence | None = None
    checksum: str = ""
    path: Path | None = None  # of its file

    @property
    def unused(self):
        """Why it is not used; empty where it is."""
        return self.parameters.get("unused", "")


def write_reranker(path, reranker):
    with create_artifact(path, KIND, reranker.parameters, reranker.inputs) as file:
        if not reranker.unused:
            _write_trees(file.create_group("trees"), reranker.trees)
            evidence = reranker.evidence
            write_csr(file.create_group("texts"), evidence.neighbours.X)
            write_csr(file.create_group("labels"), evidence.neighbours.Y)
            write_csr(file.create_group("names"), evidence.names.features)
            create_array(file, "names_of_labels", evidence.names.indptr)
            create_array(file, "phrases", evidence.names.phrases)
            create_array(file, "letters", evidence.names.letters)
            write_csr(file.create_group("company"), evidence.company.probabilities)
            create_array(file, "likelihood", np.array(evidence.likelihood))


def _write_trees(group, trees):
    arrays = trees._asdict()
    group.attrs["baseline"] = arrays.pop("baseline")
    for name, array in arrays.items():
        create_array(group, name, array, infinite=name == "thresholds")


def read_reranker(path, model):
    """Read the second stage of a model."""
    with open_artifact(path, KIND) as file:
        about = about_reranker(file)
        if about.inputs.get("model") != model.checksum:
            raise InputError(f"does not belong to {model.path}", path=path, remedy="run rerank again")
        if about.unused:
            return about
        if tuple(about.parameters["columns"]) != COLUMNS:
            message = "ranks by other evidence than this ovaflow knows"
            raise InputError(message, path=path, remedy="run rerank again")
        arrays = {name: map_array(array) for name, array in file["trees"].items()}
        trees = BoostedTrees(**arrays, baseline=float(file["trees"].attrs["baseline"]))
        X, Y, names, company = (read_csr(file[name]) for name in ("texts", "labels", "names", "company"))
        parts = (map_array(file[name]) for name in ("names_of_labels", "phrases", "letters"))
        names = LabelNames(names, *parts)
        parts = Neighbours.of(X, Y), names, Company(company)
        likelihood = map_array(file["likelihood"])
        evidence = Evidence(model.counts, *parts, model.bias_feature, likelihood)
        return replace(about, trees=trees, evidence=evidence)


def about_reranker(file):
    """How a second stage was fitted, of its open file."""
    path = Path(file.filename)
    return Reranker(parameters_of(file), inputs_of(file), checksum=checksum_of(file), path=path)


def read_about(path):
    """How the second stage of a file was fitted, without its trees and evidence."""
    with open_artifact(path, KIND) as file:
        return about_reranker(file)
