"""Methods by the names that they have in configs and models."""

from ovaflow.console.errors import InputError
from ovaflow.fastxml.model_file import ForestModel
from ovaflow.model.model_file import method_of
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.rembrandt.model_file import EmbeddingModel

MODELS = {each.of_method: each for each in (OneVsAll, ForestModel, EmbeddingModel)}
"""Classes of models."""


def open_any_model(path):
    """Open a model file of any method."""
    method = method_of(path)
    if method not in MODELS:
        message = f"a model of {method}, which this ovaflow does not know"
        raise InputError(message, path=path, remedy="use the ovaflow that wrote it, or a newer one")
    return MODELS[method].open(path)


def what_scores_are(settings):
    """What the scores of a model trained with these settings mean, in a sentence or two."""
    return MODELS[settings.get("method", OneVsAll.of_method)].what_scores_are(settings)
