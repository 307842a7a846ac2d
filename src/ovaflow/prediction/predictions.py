"""Predictions of a test set by a model of any method."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.reranking.macro_f1 import choose_labels_for_macro_f1
from ovaflow.reranking.reranked_model import Ranking, RerankedModel
from ovaflow.reranking.reranker_file import FILE_NAME, Reranker
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.storage.artifact import NOT_STORED, Artifact, MayBeInfinite


def attach_second_stage(model, path=None):
    """A model with its second stage: of a file, or of the one next to the model; the model itself
    without one.

    One that was no better than the scores on held-out instances says that it is not used.
    """
    beside = Path(model.path).with_name(FILE_NAME)
    if path is None and not beside.exists():
        return model
    return attach_reranker(model, Reranker.open(path or beside, model=model))


def attach_reranker(model, reranker):
    """A model with a second stage; alone if it is not used."""
    if reranker.unused:
        return model
    return RerankedModel.join(model, reranker)


def require_second_stage(model) -> None:
    """Refuse a model without a second stage, which has no probabilities."""
    if not model.probabilistic:
        beside = Path(model.path).with_name(FILE_NAME)
        remedy = "set predict: {rerank: 0.2} in the config and run again"
        if beside.exists():
            unused = Reranker.open_header(beside).unused
            remedy = (
                f"the one next to it is not used: {unused}" if unused else "leave out --no-rerank"
            )
        message = "has no second stage, so no probabilities, and does not know how many labels fit"
        raise InputError(message, path=model.path, remedy=remedy)


class PredictedLabels(NamedTuple):
    """The best labels of each instance of a part, as :class:`Predictions` has them."""

    ids: np.ndarray
    scores: MayBeInfinite
    ranking: Ranking | None = None


@dataclass(frozen=True)
class Predictions(
    Artifact, kind="predictions", made_from=("dataset", "model"), remedy="run predict again"
):
    """The best labels of each test instance; ``inputs`` name ``reranker``, too, where there is a
    second stage.
    """

    ids: (
        np.ndarray
    )  # int32 (n, k); by falling score, ties by the smaller id; -1 where there are fewer than k
    # float32 (n, k); -inf where the id is -1; probabilities where there is a second stage
    scores: MayBeInfinite
    # all candidates of a second stage by probability, and the best k of the scores alone; None
    # without one
    ranking: Ranking | None = field(default=None, kw_only=True)
    dev: PredictedLabels | None = field(
        default=None, kw_only=True
    )  # of the dev part; None where there is none
    seconds: float  # wall time of scoring, without opening files
    threads: int
    # processor time of scoring
    core_seconds: float = field(default=0.0, kw_only=True, metadata=NOT_STORED)


def predict_test_set(model, dataset, k, threads=1, suggestions=None, optimise=None):
    """Predict the best k labels of each test, and dev, instance of the dataset that the model was
    trained on.

    ``suggestions`` of files for them, by part and name, are for the second stage; ``optimise``:
    macro-F1.
    """
    model.require(dataset=dataset)
    model.prepare()
    suggestions = suggestions or {}
    wall = time.perf_counter()
    processor = time.process_time()
    ids, scores, ranking = _predict(
        model, dataset.test, k, threads, suggestions.get("test"), optimise
    )
    seconds = time.perf_counter() - wall
    core_seconds = time.process_time() - processor
    dev = dataset.dev and _predict(model, dataset.dev, k, threads, suggestions.get("dev"), optimise)
    inputs = {"dataset": dataset.checksum, "model": model.checksum}
    if ranking is not None:
        inputs["reranker"] = model.reranker.checksum
    about = {"core_seconds": core_seconds, "parameters": {"top_k": ids.shape[1]}, "inputs": inputs}
    return Predictions(ids, scores, seconds, threads, ranking=ranking, dev=dev, **about)


def _predict(model, split, k, threads, suggestions, optimise):
    X = model.instances(split)
    if not model.probabilistic:
        return PredictedLabels(*model.top_k(X, k, threads, quiet=False))
    ranking = model.ranking(X, k, threads, quiet=False, suggestions=suggestions)
    ids = ranking.ids[:, :k]
    scores = ranking.probabilities[:, :k]
    if optimise is not None:
        ids, scores = choose_labels_for_macro_f1(
            *(values[:, : max(k, N_CANDIDATES)] for values in ranking[:2]), k
        )
    return PredictedLabels(ids, scores, ranking)
