"""Reasons of suggested labels: the parts of their scores, and the evidence of the second stage."""

from collections.abc import Iterable
from typing import Any

from ovaflow.features.tokens import PLAIN, find_words
from ovaflow.model.top_k import NO_LABEL
from ovaflow.prediction.answer import shorten_float
from ovaflow.prediction.explained_label import ExplainedLabel
from ovaflow.prediction.explanation import (
    LabelContributions,
    Spans,
    compute_contributions,
    find_spans,
    get_display_name,
    locate_contributions,
    make_label_entry,
)
from ovaflow.prediction.predictor import Predictor
from ovaflow.reranking.candidates import Candidates
from ovaflow.reranking.evidence.kind import ExplainedText
from ovaflow.reranking.evidence.kinds import find_explained_kinds
from ovaflow.reranking.reranked_model import has_second_stage
from ovaflow.sparse.csr import CSR

NO_CANDIDATE: dict[str, Any] = {"probability": None, "evidence": []}
"""Fields of the explanation of a label that is no candidate of the second stage."""

CandidateEvidence = dict[int, dict[str, Any]]
"""Fields ``probability`` and ``evidence`` of each candidate, by label."""


def explain_labels(
    predictor: Predictor, x: CSR, labels: Iterable[int], top: int | None, text: str | None = None
) -> list[ExplainedLabel]:
    """Explain the scores of labels for one instance.

    Parameters
    ----------
    predictor : Predictor
        The predictor.
    x : CSR, shape (1, d)
        The instance.
    labels : iterable of int
        Ids of the labels.
    top : int or None
        Number of features of each sign that are listed; None: all.
    text : str, optional
        The text of the instance, if it is known.

    Returns
    -------
    list of ExplainedLabel
        With a second stage, with ``probability`` and ``evidence``.
    """
    labels = list(labels)
    candidates: CandidateEvidence = {}
    if predictor.model.probabilistic:
        candidates = collect_evidence(predictor, x, text, len(labels))
    spans = {} if text is None else find_spans(predictor, text)
    explained = []
    for label in labels:
        contributions = compute_contributions(predictor, x, label, top)
        explained.append(_explain_label(predictor, contributions, spans, candidates))
    return explained


def _explain_label(
    predictor: Predictor,
    contributions: LabelContributions,
    spans: Spans,
    candidates: CandidateEvidence,
) -> ExplainedLabel:
    fields = make_label_entry(predictor, contributions.label) | {
        "score": contributions.score,
        "bias": contributions.bias,
        "up": locate_contributions(predictor, contributions.up, spans),
        "down": locate_contributions(predictor, contributions.down, spans),
        "others": contributions.others,
    }
    if predictor.model.probabilistic:
        fields |= candidates.get(contributions.label, NO_CANDIDATE)
    return ExplainedLabel.model_validate(fields)


def collect_evidence(
    predictor: Predictor, x: CSR, text: str | None = None, amount: int = 0
) -> CandidateEvidence:
    """Collect the probability and the evidence of the candidates of one instance, by label.

    Candidates and probabilities are those of a prediction of ``amount`` labels.

    Evidence is a list of entries, each with the name of its ``kind``, its ``text``, and numbers.

    Parameters
    ----------
    predictor : Predictor
        A predictor with a second stage.
    x : CSR, shape (1, d)
        The instance.
    text : str, optional
        Its text, if it is known.
    amount : int
        Number of labels.
    """
    model = predictor.model
    assert has_second_stage(model)
    candidates, _ = model.find_candidates(x, amount, allowed=predictor.offered)
    evidence = _list_evidence(predictor, candidates, text or "")
    ids, probabilities = model.rank_candidates(candidates)
    probability_of_label = dict(zip(ids[0].tolist(), probabilities[0], strict=True))
    collected = {}
    for label, entries in zip(candidates.ids[0].tolist(), evidence, strict=True):
        if label != NO_LABEL:
            probability = shorten_float(probability_of_label[label])
            collected[label] = {"probability": probability, "evidence": entries}
    return collected


def _list_evidence(
    predictor: Predictor, candidates: Candidates, text: str
) -> list[list[dict[str, Any]]]:
    """List the evidence about each of the candidates of one instance."""
    model = predictor.model
    assert has_second_stage(model)
    word_kind = model.transform.get("words", PLAIN)
    explained = ExplainedText(
        candidates,
        words=find_words(text, html=bool(model.transform.get("html")), word_kind=word_kind),
        word_kind=word_kind,
        # evidence was computed with the model's names, whatever language shows them
        label_names=model.label_names,
        shown_name=lambda label: get_display_name(make_label_entry(predictor, label)),
    )
    entries: list[dict[str, dict[str, Any]]] = [{} for _ in candidates.ids[0]]
    for kind, words in find_explained_kinds(model.evidence.kinds):
        for entries_by_kind, reason in zip(entries, kind.give_reasons(explained), strict=True):
            if reason and words.superseded_by not in entries_by_kind:
                entries_by_kind[kind.name] = {"kind": kind.name, **reason}
    return [list(entries_by_kind.values()) for entries_by_kind in entries]
