"""The file of a second stage: trees and evidence as plain arrays, bound to the model whose candidates it ranks."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.reranking.boosted_trees import BoostedTrees, rank
from ovaflow.reranking.company import Company
from ovaflow.reranking.evidence import Evidence, columns_with
from ovaflow.reranking.names import LabelNames
from ovaflow.reranking.neighbours import Neighbours
from ovaflow.reranking.suggestions import Source
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
    sources: tuple[Source, ...] = ()  # whose suggestions are evidence; runs, then files
    # for texts of which a file says nothing; they know the columns before those of the files
    trees_alone: BoostedTrees | None = None

    @property
    def unused(self):
        """Why it is not used; empty where it is."""
        return self.parameters.get("unused", "")

    @property
    def missed(self):
        """Mean number of true labels that are no candidates; 0 in files that do not say."""
        return self.parameters.get("check", {}).get("missed", 0.0)

    @property
    def runs(self):
        """The sources that are runs, whose models are asked."""
        return [source for source in self.sources if source.model is not None]

    @property
    def files(self):
        """Names of the sources whose suggestions come in files."""
        return [source.name for source in self.sources if source.model is None]

    def rank(self, columns, ids, complete):
        """Probabilities of candidates (n, k), and their order; all sources know ``complete`` texts."""
        if complete.all():
            return rank(self.trees, columns, ids)
        probabilities, order = rank(self.trees_alone, columns, ids)
        ranked = rank(self.trees, columns[complete], ids[complete])
        probabilities[complete], order[complete] = ranked
        return probabilities, order


def write_reranker(path, reranker):
    parameters = reranker.parameters
    if reranker.sources:
        parameters = parameters | {"sources": [_entry(source, path) for source in reranker.sources]}
    with create_artifact(path, KIND, parameters, reranker.inputs) as file:
        if not reranker.unused:
            _write_trees(file.create_group("trees"), reranker.trees)
            if reranker.trees_alone is not None:
                _write_trees(file.create_group("trees_alone"), reranker.trees_alone)
            evidence = reranker.evidence
            write_csr(file.create_group("texts"), evidence.neighbours.X)
            write_csr(file.create_group("labels"), evidence.neighbours.Y)
            write_csr(file.create_group("names"), evidence.names.features)
            create_array(file, "names_of_labels", evidence.names.indptr)
            create_array(file, "phrases", evidence.names.phrases)
            create_array(file, "letters", evidence.names.letters)
            write_csr(file.create_group("company"), evidence.company.probabilities)
            create_array(file, "likelihood", np.array(evidence.likelihood))


def _entry(source, path):
    """A source as parameters, its model relative to the folder of the second stage."""
    entry = {"name": source.name, "checksum": source.checksum}
    if source.model is not None:
        entry["model"] = os.path.relpath(source.model, Path(path).parent)
    return entry


def _sources(parameters, path):
    folder = Path(path).parent
    for entry in parameters.get("sources", ()):
        name, model = entry["name"], entry.get("model")
        if model is not None:
            copy = copy_of_run(folder, name)
            model = copy if copy.exists() else folder / model
        yield Source(name, model, entry["checksum"])


def copy_of_run(folder, name):
    """Where a folder that holds all that its model needs has the model of another run."""
    return Path(folder, "runs", f"{name}.h5")


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
            remedy = "run rerank again, or remove the file"
            raise InputError(f"does not belong to {model.path}", path=path, remedy=remedy)
        if about.unused:
            return about
        if tuple(about.parameters["columns"]) != columns_with(about.sources):
            message = "ranks by other evidence than this ovaflow knows"
            raise InputError(message, path=path, remedy="run rerank again")
        trees, trees_alone = _read_trees(file["trees"]), None
        if "trees_alone" in file:
            trees_alone = _read_trees(file["trees_alone"])
        X, Y, names, company = (read_csr(file[name]) for name in ("texts", "labels", "names", "company"))
        parts = (map_array(file[name]) for name in ("names_of_labels", "phrases", "letters"))
        names = LabelNames(names, *parts)
        parts = Neighbours.of(X, Y), names, Company(company)
        likelihood = map_array(file["likelihood"])
        evidence = Evidence(model.counts, *parts, model.bias_feature, likelihood)
        return replace(about, trees=trees, evidence=evidence, trees_alone=trees_alone)


def _read_trees(group):
    arrays = {name: map_array(array) for name, array in group.items()}
    return BoostedTrees(**arrays, baseline=float(group.attrs["baseline"]))


def about_reranker(file):
    """How a second stage was fitted, of its open file."""
    path, parameters = Path(file.filename), parameters_of(file)
    sources = tuple(_sources(parameters, path))
    about = Reranker(parameters, inputs_of(file), checksum=checksum_of(file), path=path)
    return replace(about, sources=sources)


def read_about(path):
    """How the second stage of a file was fitted, without its trees and evidence."""
    with open_artifact(path, KIND) as file:
        return about_reranker(file)
