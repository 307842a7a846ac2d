"""Why labels are suggested: what their scores are made of, and the evidence of the second stage in
words.
"""

import numpy as np

from ovaflow.model.top_k import NO_LABEL
from ovaflow.prediction.answer import shorten_float
from ovaflow.prediction.explained_label import ExplainedLabel
from ovaflow.prediction.explanation import (
    compute_contributions,
    find_spans,
    get_display_name,
    locate_contributions,
    make_label_entry,
)
from ovaflow.reranking.candidates import Candidates
from ovaflow.reranking.evidence.kind import ExplainedText
from ovaflow.reranking.evidence.kinds import find_explained_kinds
from ovaflow.reranking.evidence.name_in_text import tokens_in
from ovaflow.settings.predict import N_CANDIDATES

NO_CANDIDATE: dict = {"probability": None, "evidence": []}
"""What the second stage says of a label that is none of its candidates."""


def explain_labels(predictor, x, labels, top, text=None):
    """Return the :class:`ExplainedLabel` of each label for one instance, its text or features
    alone.

    It has ``top`` features of each sign; with a second stage ``probability`` and ``evidence``.
    """
    candidates = {}
    if predictor.model.probabilistic:
        candidates = collect_evidence(predictor, x, text, len(labels))
    spans = {} if text is None else find_spans(predictor, text)
    return [
        _explained(predictor, compute_contributions(predictor, x, label, top), spans, candidates)
        for label in labels
    ]


def _explained(predictor, found, spans, candidates):
    fields = make_label_entry(predictor, found.label) | {
        "score": found.score,
        "bias": found.bias,
        "up": locate_contributions(predictor, found.up, spans),
        "down": locate_contributions(predictor, found.down, spans),
        "others": found.others,
    }
    if predictor.model.probabilistic:
        fields |= candidates.get(found.label, NO_CANDIDATE)
    return ExplainedLabel.model_validate(fields)


def collect_evidence(predictor, x, text=None, amount=0):
    """Probability and evidence of each candidate of one instance, of ``amount`` at least, by label.

    Evidence is a list of what there is, each with the name of its ``kind``, its ``text``, and
    numbers.
    """
    most = min(max(amount, N_CANDIDATES), predictor.n_labels)
    ids, probabilities = (row[0] for row in predictor.top_k(x, most))
    known = ids != NO_LABEL
    ids = ids[known]
    reasons = _reasons(predictor, x, text or "", ids)
    return {
        label: {"probability": shorten_float(probability), "evidence": evidence}
        for label, probability, evidence in zip(
            ids.tolist(), probabilities[known], reasons, strict=True
        )
    }


def _reasons(predictor, x, text, ids):
    """Say what speaks for each of these candidates of one instance."""
    model = predictor.model
    evidence = model.reranker.evidence
    texts = evidence.prepare_texts(x, model.first_stage)
    candidates = Candidates(texts, ids[None], predictor.scores(x, ids), np.arange(len(ids)))
    explained = ExplainedText(
        candidates,
        words=tokens_in(text, model.transform.get("html")),
        # the names that were looked for, in whatever language they are shown
        label_names=model.label_names,
        shown_name=lambda label: get_display_name(make_label_entry(predictor, label)),
    )
    told = [{} for _ in ids]
    for kind, words in find_explained_kinds(evidence.kinds):
        for by_kind, reason in zip(told, kind.reasons(explained), strict=True):
            if reason and words.superseded_by not in by_kind:
                by_kind[kind.name] = {"kind": kind.name, **reason}
    return [list(by_kind.values()) for by_kind in told]
