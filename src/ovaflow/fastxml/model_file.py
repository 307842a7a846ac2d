"""Models of trees: their file and their scores."""

from dataclasses import dataclass

from ovaflow.console.errors import InputError
from ovaflow.fastxml.forest import Forest, read_forest, write_forest
from ovaflow.fastxml.scoring import load_kernels, predict_trees, scores_of
from ovaflow.model.model_file import KIND, ModelFile, method_of, read_common, write_common
from ovaflow.storage.artifact import create_artifact, open_artifact
from ovaflow.storage.refusals import damaged

__all__ = ["METHOD", "ForestModel", "load_kernels", "open_model", "predict", "save_model", "score"]

METHOD = "fastxml"
"""Name of the method in configs and models."""


@dataclass(frozen=True)
class ForestModel(ModelFile):
    """An open model of trees; arrays are mapped."""

    forest: Forest

    @property
    def n_features(self):
        """Number of features, bias feature included."""
        return self.forest.separators.n_columns

    def instances(self, split):
        transform = self.parameters.get("transform", {})
        return split.unscaled(transform.get("bias", 0)) if transform.get("unscaled") else split.X

    @property
    def nonzeros(self):
        """Number of the separators' weights and of the leaves' scores."""
        return len(self.forest.separators.data) + len(self.forest.distributions.data)


def open_model(path):
    if method_of(path) != METHOD:
        raise InputError(
            f"a model of {method_of(path)}, which has no trees", path=path, remedy="give a model of fastxml"
        )
    with open_artifact(path, KIND) as file:
        forest = read_forest(file["forest"])
        if not forest.n_trees:
            raise damaged(file, "a forest without trees")
        shape = forest.distributions.n_columns, forest.separators.n_columns
        return ForestModel(**read_common(file, path, *shape), forest=forest)


def save_model(path, model):
    with create_artifact(path, KIND, model.parameters, model.inputs) as file:
        write_forest(file.create_group("forest"), model.forest)
        write_common(file, model.trained, model.counts, model.names)


def predict(model, X, k, threads, quiet):
    return predict_trees(model.forest, X, k, threads, quiet=quiet)


def score(model, X, labels):
    return scores_of(model.forest, X, labels)
