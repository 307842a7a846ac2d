"""The file of a second stage: trees and evidence as plain arrays, bound to the model whose candidates it ranks."""

from dataclasses import dataclass
from pathlib import Path

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
    """A second stage."""

    trees: BoostedTrees
    evidence: Evidence
    parameters: dict  # how it was fitted, and ``check``: what it was worth on held-out texts that it had not seen
    inputs: dict  # checksum of ``model``, and of what it was fitted to
    checksum: str = ""

    @property
    def useful(self):
        """Whether it ranked held-out texts better than the scores do."""
        check = self.parameters["check"]
        return check["second_stage"] > check["first_stage"]


def write_reranker(path, reranker):
    evidence = reranker.evidence
    matrices = {
        "texts": evidence.neighbours.X,
        "labels": evidence.neighbours.Y,
        "names": evidence.names.features,
        "company": evidence.company.probabilities,
    }
    parameters = reranker.parameters | {"columns": COLUMNS, "baseline": reranker.trees.baseline}
    with create_artifact(path, KIND, parameters, reranker.inputs) as file:
        group = file.create_group("trees")
        for name in ("starts", "columns", "thresholds", "children", "values"):
            create_array(group, name, getattr(reranker.trees, name), infinite=name == "thresholds")
        for name, matrix in matrices.items():
            write_csr(file.create_group(name), matrix)


def read_reranker(path, model):
    """Read the second stage of a model."""
    with open_artifact(path, KIND) as file:
        parameters = parameters_of(file)
        if inputs_of(file).get("model") != model.checksum:
            raise InputError(f"does not belong to {model.path}", path=path, remedy="run rerank again")
        if tuple(parameters["columns"]) != COLUMNS:
            message = "ranks by other evidence than this ovaflow knows"
            raise InputError(message, path=path, remedy="run rerank again")
        arrays = {name: map_array(array) for name, array in file["trees"].items()}
        X, Y, names, company = (read_csr(file[name]) for name in ("texts", "labels", "names", "company"))
        parts = Neighbours.of(X, Y), LabelNames(names), Company(company)
        return Reranker(
            BoostedTrees(**arrays, baseline=parameters["baseline"]),
            Evidence(model.counts, *parts, model.bias_feature, parameters["likelihood"]),
            parameters,
            inputs_of(file),
            checksum_of(file),
        )


def reranker_beside(model):
    """Path of the file next to a model; None without one."""
    path = Path(model.path).with_name(FILE_NAME)
    return path if path.exists() else None
