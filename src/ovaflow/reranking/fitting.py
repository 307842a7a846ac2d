"""Fitting of the second stage to held-out texts, whose candidates come from a model that has not
seen them.

Folds of these texts first check the trees that are fitted to the others.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.model.model_file import Model
from ovaflow.reranking.boosted_trees import BoostedTrees
from ovaflow.reranking.choice_of_evidence import choose_evidence
from ovaflow.reranking.choice_of_order import ChosenOrder, choose_order
from ovaflow.reranking.cross_fitting import CrossFit, cross_fit
from ovaflow.reranking.evidence.candidate_evidence import CandidateEvidence
from ovaflow.reranking.evidence.kind import EvidenceTraining
from ovaflow.reranking.expected_quality import (
    CHECKED_PRECISIONS,
    compute_unfitting_share,
    measure_sure_records,
)
from ovaflow.reranking.held_out_candidates import HeldOutCandidates
from ovaflow.reranking.held_out_texts import HeldOutTexts, PredictionsOfHeldOut
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.sampled_candidates import sample_candidates
from ovaflow.reranking.suggestions import Suggestions, SuggestionSource
from ovaflow.sparse.csr import CSR
from ovaflow.storage.artifact import Artifact


class _FittingData(NamedTuple):
    """Data of a second stage, which each phase of the fitting gets."""

    model: Model  # whose candidates the second stage will rank
    dataset: Dataset  # that the model was trained on
    held_out: Dataset  # the same without some texts in its training part: they are its test set
    texts: HeldOutTexts
    threads: int


class _GatheredEvidence(NamedTuple):
    """Evidence about the candidates of held-out texts."""

    likelihood: tuple[float, float]  # slope and intercept of the log-odds of a label over its score
    evidence: CandidateEvidence  # taken from the texts that were not held out
    candidates: HeldOutCandidates
    optional: list[str]  # names of the optional kinds of evidence that are used


def fit_reranker(
    model: Model,
    dataset: Dataset,
    held_out: Dataset,
    predictions: PredictionsOfHeldOut,
    *,
    threads: int = 1,
    suggestions: Mapping[SuggestionSource, Suggestions] | None = None,
    held_out_model: Model | None = None,
) -> Reranker:
    """Fit a second stage for a model.

    Parameters
    ----------
    model : Model
    dataset : Dataset
        The dataset that the model was trained on.
    held_out : Dataset
        The same dataset with some texts held out, which are its test set.
    predictions : Predictions
        Predictions for the held-out texts by a model of the others.
    threads : int
    suggestions : mapping, optional
        Suggestions of other programs for the held-out texts, which are evidence.
    held_out_model : Model, optional
        The model that made the predictions: with it, scores of the first words may be evidence.
    """
    texts = HeldOutTexts.from_predictions(held_out, predictions, suggestions or {}, held_out_model)
    data = _FittingData(model, dataset, held_out, texts, threads)
    parameters = _describe_texts(data)
    inputs = _collect_checksums(data, predictions)
    if texts.obstacle:
        return Reranker(parameters=parameters | {"unused": texts.obstacle}, inputs=inputs)
    gathered = _gather_evidence(data)
    order = choose_order(gathered.candidates.select(texts.complete), threads)
    parameters |= {
        "columns": gathered.candidates.column_names,
        "further": gathered.optional,
        "check": _check_order(data, gathered, order),
    }
    return Reranker(
        trees=_fit_trees(data, gathered, order),
        trees_alone=_fit_trees_without_sources(data, gathered, order),
        evidence=_refit_evidence(data, gathered),
        parameters=parameters,
        inputs=inputs,
    )


def _describe_texts(data: _FittingData) -> dict[str, Any]:
    """Describe the held-out texts: how they were held out, their number, and their sources."""
    parameters = {**data.held_out.parameters["held_out"], "texts": len(data.texts)}
    if data.texts.suggestions:
        parameters["sources"] = [source._asdict() for source in data.texts.suggestions]
    return parameters


def _collect_checksums(data: _FittingData, predictions: PredictionsOfHeldOut) -> dict[str, str]:
    """Collect the checksums of what the second stage is made from."""
    inputs = {
        "model": data.model.checksum,
        "held_out": data.held_out.checksum,
        "held_out_model": predictions.inputs["model"],
    }
    for source in data.texts.suggestions:
        inputs[source.group] = source.checksum
    return inputs


def _gather_evidence(data: _FittingData) -> _GatheredEvidence:
    """Take evidence from the texts that were not held out, and choose the kinds that are used."""
    texts = data.texts
    likelihood = texts.fit_likelihood()
    # the training part of held_out lacks the held-out texts: evidence has not seen them
    training = EvidenceTraining(data.held_out, data.dataset, likelihood, texts.model)
    evidence = CandidateEvidence.fit(training).with_sources(texts.suggestions)
    candidates = sample_candidates(texts.with_candidates(evidence, data.threads), data.threads)
    # texts without suggestions, such as all those of the service, are ranked without sources
    optional = choose_evidence(candidates.without_sources(), data.threads)
    return _GatheredEvidence(likelihood, evidence, candidates.with_optional(optional), optional)


def _check_order(
    data: _FittingData, gathered: _GatheredEvidence, order: ChosenOrder
) -> dict[str, Any]:
    """Describe the quality of the order and of the probabilities on checked texts."""
    texts = data.texts
    expected = mark_expected_labels(data.dataset, data.held_out)
    missed = count_missed(gathered.candidates, texts.split.Y, expected)[texts.complete]
    return order.check | check_probabilities(order.crossed, missed)


def _fit_trees(data: _FittingData, gathered: _GatheredEvidence, order: ChosenOrder) -> BoostedTrees:
    """Fit the trees to all texts that all sources have an entry for."""
    complete = gathered.candidates.select(data.texts.complete)
    return order.fit_to_all(complete, order.crossed.n_trees)


def _fit_trees_without_sources(
    data: _FittingData, gathered: _GatheredEvidence, order: ChosenOrder
) -> BoostedTrees | None:
    """Fit the trees for texts without suggestions; return None where there are no sources."""
    if not data.texts.suggestions:
        return None
    alone = gathered.candidates.without_sources()
    return order.fit_to_all(alone, cross_fit(alone, order.fit).n_trees)


def _refit_evidence(data: _FittingData, gathered: _GatheredEvidence) -> CandidateEvidence:
    """Take the evidence that is used from all texts of the dataset."""
    training = EvidenceTraining(data.dataset, data.dataset, gathered.likelihood, data.model)
    return gathered.evidence.with_optional(gathered.optional).refit(training)


def require_same_dataset(dataset: Dataset, held_out: Dataset, made: Artifact) -> None:
    """Refuse held-out instances of another dataset, and what was not made of these instances.

    Parameters
    ----------
    dataset, held_out : Dataset
    made : Artifact
        Predictions or a model that should be made of ``held_out``.
    """
    if held_out.parameters.get("held_out", {}).get("of") != dataset.checksum:
        remedy = "give the held-out dataset and the dataset of one run"
        raise InputError(f"was not held out of {dataset.path}", path=held_out.path, remedy=remedy)
    made.require(dataset=held_out)


def check_probabilities(crossed: CrossFit, missed: np.ndarray) -> dict[str, Any]:
    """Measure the probabilities of checked texts.

    Parameters
    ----------
    crossed : CrossFit
    missed : int (n,)
        Number of true labels of each held-out text that are no candidates.

    Returns
    -------
    dict
        ``missed``: their number for a text whose labels that fit leave out all that its candidates
        promise; ``sure``: the figures of :func:`measure_sure_records`.
    """
    probabilities, hits = crossed.ranked
    unfitting = compute_unfitting_share(probabilities).sum()
    missed_per_text = 0.0
    if unfitting:
        missed_per_text = float(missed[crossed.places].sum() / unfitting)
    return {
        "texts": len(crossed.places),
        "log_loss": crossed.log_loss,
        "missed": missed_per_text,
        "sure": measure_sure_records(CHECKED_PRECISIONS, probabilities, hits),
    }


def count_missed(texts: HeldOutCandidates, true: CSR, expected: np.ndarray) -> np.ndarray:
    """Count the true labels of each text that are no candidates: (n,).

    Only labels that are ``expected`` of new texts, bool (l,), are counted.
    """
    found = np.count_nonzero(texts.hits & expected[texts.ids], axis=1)
    return (true.to_scipy() > 0) @ expected.astype(np.int64) - found


def mark_expected_labels(dataset: Dataset, held_out: Dataset) -> np.ndarray:
    """Mark the labels of held-out texts that new texts may have, too: bool (l,).

    Labels that only held-out texts have are known to the model in use, so they are not missed
    there. But where there are labels that no text has, a label that a single text has represents
    them.
    """
    in_rest = held_out.counts
    in_all = dataset.counts
    return (in_rest > 0) | ((in_all == 1) & np.any(in_all == 0))
