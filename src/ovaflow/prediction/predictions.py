"""Predictions of a test set by a model of any method."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.model.model_file import Model
from ovaflow.reranking.macro_f1 import choose_labels_for_macro_f1
from ovaflow.reranking.reranked_model import Ranking, RerankedModel, has_second_stage
from ovaflow.reranking.reranker_file import FILE_NAME, Reranker
from ovaflow.reranking.suggestions import Suggestions
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.storage.artifact import NOT_STORED, Artifact, MayBeInfinite


def attach_second_stage(model: Model, path: StrPath | None = None) -> Model:
    """Attach a second stage to a model.

    Parameters
    ----------
    model : Model
        The open model.
    path : path-like, optional
        File of the second stage; by default the one next to the model, if there is one.

    Returns
    -------
    Model
        The model alone without a second stage, or if the second stage is not used because it was
        no better than the scores on held-out instances.
    """
    default = Path(model.path).with_name(FILE_NAME)
    if path is None:
        if not default.exists():
            return model
        path = default
    return attach_reranker(model, Reranker.open(path, model=model))


def attach_reranker(model: Model, reranker: Reranker) -> Model:
    """Attach an open second stage to a model; returns the model alone if the stage is not used."""
    if reranker.unused:
        return model
    return RerankedModel.join(model, reranker)


def require_second_stage(model: Model) -> None:
    """Raise an InputError if a model has no second stage, and so no probabilities."""
    if model.probabilistic:
        return
    path = Path(model.path).with_name(FILE_NAME)
    remedy = "set predict: {rerank: 0.2} in the config and run again"
    if path.exists():
        unused = Reranker.open_header(path).unused
        remedy = "leave out --no-rerank"
        if unused:
            remedy = f"the one next to it is not used: {unused}"
    message = "has no second stage, so no probabilities, and does not know how many labels fit"
    raise InputError(message, path=model.path, remedy=remedy)


class PredictedLabels(NamedTuple):
    """The best labels of each instance of a part; fields are those of :class:`Predictions`."""

    ids: np.ndarray
    scores: MayBeInfinite
    ranking: Ranking | None = None


@dataclass(frozen=True)
class Predictions(
    Artifact, kind="predictions", made_from=("dataset", "model"), remedy="run predict again"
):
    """The best labels of each test instance.

    ``inputs`` has the checksum of the ``reranker``, too, if there is a second stage.
    """

    # int32 (n, k); by falling score, ties by the smaller id; -1 where there are fewer than k
    ids: np.ndarray
    # float32 (n, k); -inf where the id is -1; probabilities if there is a second stage
    scores: MayBeInfinite
    # all candidates of a second stage by probability, and the best k of the scores alone; None
    # without one
    ranking: Ranking | None = field(default=None, kw_only=True)
    # of the dev part; None without one
    dev: PredictedLabels | None = field(default=None, kw_only=True)
    seconds: float  # wall time of scoring, without opening files
    threads: int
    # processor time of scoring, in seconds
    core_seconds: float = field(default=0.0, kw_only=True, metadata=NOT_STORED)


class _PredictionSettings(NamedTuple):
    """Settings of the predictions of a part."""

    k: int
    threads: int
    optimise: str | None


def predict_test_set(
    model: Model,
    dataset: Dataset,
    k: int,
    threads: int = 1,
    suggestions: Mapping[str, Mapping[str, Suggestions]] | None = None,
    optimise: str | None = None,
) -> Predictions:
    """Predict the best labels of each test, and dev, instance of the model's dataset.

    Parameters
    ----------
    model : Model
        The open model, with its second stage.
    dataset : Dataset
        The dataset that the model was trained on.
    k : int
        Number of labels of each instance.
    threads : int
        Number of threads; they change no result.
    suggestions : mapping, optional
        Suggestions of files for the second stage, by part (test or dev) and by name.
    optimise : str, optional
        "macro-F1": labels are chosen for it; by default the most probable ones.

    Raises
    ------
    InputError
        If the model was trained on another dataset.
    """
    model.require(dataset=dataset)
    model.prepare()
    suggestions = suggestions or {}
    settings = _PredictionSettings(k, threads, optimise)
    wall = time.perf_counter()
    processor = time.process_time()
    predicted = _predict(model, dataset.test, settings, suggestions.get("test"))
    seconds = time.perf_counter() - wall
    core_seconds = time.process_time() - processor
    dev = None
    if dataset.dev is not None:
        dev = _predict(model, dataset.dev, settings, suggestions.get("dev"))
    inputs = {"dataset": dataset.checksum, "model": model.checksum}
    if predicted.ranking is not None and has_second_stage(model):
        inputs["reranker"] = model.reranker.checksum
    return Predictions(
        predicted.ids,
        predicted.scores,
        seconds,
        threads,
        ranking=predicted.ranking,
        dev=dev,
        core_seconds=core_seconds,
        parameters={"top_k": predicted.ids.shape[1]},
        inputs=inputs,
    )


def _predict(
    model: Model,
    split: Split,
    settings: _PredictionSettings,
    suggestions: Mapping[str, Suggestions] | None,
) -> PredictedLabels:
    k = settings.k
    X = model.instances(split)
    if not has_second_stage(model):
        ids, scores = model.top_k(X, k, settings.threads, quiet=False)
        return PredictedLabels(ids, scores)
    ranking = model.rank(X, k, settings.threads, quiet=False, suggestions=suggestions)
    if settings.optimise is None:
        return PredictedLabels(ranking.ids[:, :k], ranking.probabilities[:, :k], ranking)
    n_candidates = max(k, N_CANDIDATES)
    ids, probabilities = choose_labels_for_macro_f1(
        ranking.ids[:, :n_candidates], ranking.probabilities[:, :n_candidates], k
    )
    return PredictedLabels(ids, probabilities, ranking)
