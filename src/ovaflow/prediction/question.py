"""What is asked of a model for each instance, and the answers to it."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import BeforeValidator

from ovaflow.console.errors import InputError
from ovaflow.labels.hierarchy import select_most_specific
from ovaflow.model.top_k import NO_LABEL
from ovaflow.prediction.answer import Answer, shorten_float
from ovaflow.prediction.explanation import make_label_entry
from ovaflow.prediction.predictions import require_second_stage
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.expected_quality import ExpectedQuality, estimate_quality
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.settings.section import Positive, Section, Text, as_list, setting

LabelEntries = Annotated[list[Text], BeforeValidator(as_list)]
_ENTRIES = (
    "names, URIs, patterns such as http://example.org/places/*, URIs of schemes and collections"
)


class Question(Section):
    """What is asked; doors to a model, its command line, service and programs, have all of these
    fields.
    """

    top_k: Positive = setting(5, "number of labels predicted for each instance")
    fit: bool = setting(False, "as many labels as fit, whatever top_k says; needs a second stage")
    min_probability: float | None = setting(
        None, "only labels that are at least this probable; needs a second stage", ge=0, le=1
    )
    min_score: float | None = setting(None, "only labels with at least this score")
    most_specific: bool = setting(
        False, "no label above another one of the answer; needs a hierarchy of labels"
    )
    include: LabelEntries = setting([], f"only these labels: {_ENTRIES}")
    exclude: LabelEntries = setting(
        [], f"none of these labels, in whose places others come: {_ENTRIES}"
    )
    language: str | None = setting(
        None,
        "language of the labels' names, such as sv, where the vocabulary has it",
        null="that of the model",
    )

    def require(self, model: Any) -> None:
        """Refuse what a model cannot answer."""
        if self.fit or self.min_probability is not None:
            require_second_stage(model)
        if self.most_specific:
            require_hierarchy(model)

    @property
    def chooses_labels(self) -> bool:
        """Whether only some labels may be predicted."""
        return bool(self.include or self.exclude)

    def ranked(self, model: Any) -> int:
        """How many labels of each instance are ranked, of which some are kept."""
        several = self.fit or self.most_specific or model.probabilistic
        return min(max(self.top_k, N_CANDIDATES) if several else self.top_k, model.n_labels)

    def keeps(self, model: Any, ids: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Which of the ranked labels are in the answer: bool (n, k)."""
        most = N_CANDIDATES if self.fit else self.top_k
        amounts: Any = most
        if self.fit:
            amounts = count_fitting_labels(scores)[:, None]
        elif self.most_specific:
            amounts = N_CANDIDATES
        kept = (ids != NO_LABEL) & (np.arange(ids.shape[1]) < amounts)
        for least in (self.min_score, self.min_probability):
            if least is not None:
                kept &= scores >= least
        return _most_specific(model, ids, kept, most) if self.most_specific else kept


class RankedAnswers(NamedTuple):
    """The labels of each instance (n, k), of which a question keeps some; -1 and -inf where there
    are fewer.
    """

    ids: np.ndarray
    scores: np.ndarray  # probabilities where there is a second stage
    missed: float  # true labels that are not among them, see expected_quality
    about: list[dict]  # fields of the answer to each instance that do not depend on labels


def make_answers(predictor, question, ranked, chosen=None):
    """The answers to a question from ranked labels; ``chosen`` are ids and scores of labels picked
    from these.
    """
    model = predictor.model
    (ids, scores) = chosen or ranked[:2]
    kept = question.keeps(model, ids, scores)
    qualities = [None] * len(ids)
    fits = [None] * len(ids)
    if model.probabilistic:
        probabilities = ranked.scores
        quality = estimate_quality(np.where(kept, scores, -np.inf), probabilities, ranked.missed)
        qualities = map(ExpectedQuality, *quality)
        fits = count_fitting_labels(probabilities)
        if question.most_specific:
            fits = np.count_nonzero(kept & (np.arange(ids.shape[1]) < fits[:, None]), axis=1)
        fits = fits.tolist()
    for quality, fit, about, *row in zip(
        qualities, fits, ranked.about, ids.tolist(), kept, scores, strict=True
    ):
        labels = [
            _label_fields(predictor, label, score)
            for label, is_kept, score in zip(*row, strict=True)
            if is_kept
        ]
        yield Answer.of(quality, labels=labels, fit=fit, **about)


def _label_fields(predictor, label, score):
    figures = {"score": shorten_float(score)}
    if predictor.model.probabilistic:
        figures["probability"] = figures["score"]
    return make_label_entry(predictor, label) | figures


def estimate_missed_labels(model, allowed, ranked):
    """True labels, of those allowed, that are not ranked, see :func:`expected_quality`; None: of
    all.
    """
    if not model.probabilistic:
        return 0.0
    missed = model.reranker.missed
    if allowed is None:
        return missed
    if np.count_nonzero(allowed) <= ranked:
        return 0.0
    return missed * float(model.counts[allowed].sum() / max(model.counts.sum(), 1))


def _most_specific(model, ids, kept, most):
    """Which of the kept labels have none of the others below them: bool (n, k)."""
    above = require_hierarchy(model)
    chosen = np.zeros_like(kept)
    for row, (labels, is_kept) in enumerate(zip(ids, kept, strict=True)):
        deepest = select_most_specific(labels[is_kept].tolist(), above, most)
        chosen[row] = np.isin(labels, deepest)
    return chosen


def require_hierarchy(model):
    """Labels above each label; refused where the model has no hierarchy."""
    if model.above is None:
        remedy = "train with hierarchy: ' > ', or what is between the levels"
        if "vocabulary" in model.transform.get("source", {}).get("files", {}):
            remedy = "train with hierarchy: broader, and a SKOS vocabulary that has skos:broader"
        raise InputError("its labels are no hierarchy", path=model.path, remedy=remedy)
    return model.above
