"""What differs between methods once a model is trained: how it is opened and how it scores."""

from collections.abc import Callable
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.fastxml import scoring
from ovaflow.fastxml.model_file import METHOD as FASTXML
from ovaflow.fastxml.model_file import open_forest, save_forest
from ovaflow.model.model_file import ONE_VS_ALL, method_of, open_model, save_model
from ovaflow.prediction import top_k
from ovaflow.rembrandt import scoring as embedded
from ovaflow.rembrandt.model_file import METHOD as REMBRANDT
from ovaflow.rembrandt.model_file import open_embedding_model, save_embedding_model


class Method(NamedTuple):
    """A family of models."""

    open: Callable  # opens a model file: ``open(path)``
    predict: Callable  # best labels and scores: ``predict(model, X, k, threads, quiet)``
    score: Callable  # scores of chosen labels: ``score(model, X, labels)``
    save: Callable  # writes a model that is in memory: ``save(path, model)``
    load_kernels: Callable  # loads or compiles what scoring needs


def _predict_one_vs_all(model, X, k, threads, quiet):
    return top_k.predict_top_k(model.weights, model.trained, X, k, threads, quiet=quiet)


def _score_one_vs_all(model, X, labels):
    return top_k.scores_of(model.weights, X, labels)


def _predict_fastxml(model, X, k, threads, quiet):
    return scoring.predict_trees(model.forest, X, k, threads, quiet=quiet)


def _score_fastxml(model, X, labels):
    return scoring.scores_of(model.forest, X, labels)


def _predict_rembrandt(model, X, k, threads, quiet):
    return embedded.predict_embedded(model.projection, model.decoder, model.trained, X, k, threads, quiet)


def _score_rembrandt(model, X, labels):
    return embedded.scores_of(model.projection, model.decoder, X, labels)


METHODS = {
    ONE_VS_ALL: Method(open_model, _predict_one_vs_all, _score_one_vs_all, save_model, top_k.load_kernels),
    FASTXML: Method(open_forest, _predict_fastxml, _score_fastxml, save_forest, scoring.load_kernels),
    REMBRANDT: Method(
        open_embedding_model, _predict_rembrandt, _score_rembrandt, save_embedding_model, embedded.load_kernels
    ),
}
"""By the name in the model's ``parameters["train"]["method"]``."""


def method_named(name, path):
    if name not in METHODS:
        raise InputError(
            f"a model of {name}, which this ovaflow does not know",
            path=path,
            remedy="use the ovaflow that wrote it, or a newer one",
        )
    return METHODS[name]


def method_of_model(model):
    return method_named(model.parameters.get("train", {}).get("method", ONE_VS_ALL), model.path)


def open_any_model(path):
    """Open a model file, whatever its method."""
    return method_named(method_of(path), path).open(path)
