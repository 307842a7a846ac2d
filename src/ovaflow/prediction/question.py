"""Questions to a model about each instance, and the answers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from pydantic import BeforeValidator

from ovaflow.console.errors import InputError
from ovaflow.labels.hierarchy import select_most_specific
from ovaflow.model.model_file import Model
from ovaflow.model.top_k import NO_LABEL
from ovaflow.prediction.answer import Answer, shorten_float
from ovaflow.prediction.explanation import make_label_entry
from ovaflow.prediction.predictions import require_second_stage
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.expected_quality import ExpectedQuality, estimate_quality
from ovaflow.reranking.reranked_model import has_second_stage
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.settings.section import Positive, Section, Text, as_list, setting

if TYPE_CHECKING:
    from ovaflow.prediction.predictor import Predictor

LabelEntries = Annotated[list[Text], BeforeValidator(as_list)]
_ENTRIES = (
    "names, URIs, patterns such as http://example.org/places/*, URIs of schemes and collections"
)


class Question(Section):
    """A question to a model; the command line, the service and Python have all of its fields."""

    top_k: Positive = setting(5, "number of labels predicted for each instance")
    fit: bool = setting(False, "as many labels as fit, whatever top_k says; needs a second stage")
    min_probability: float | None = setting(
        None, "only labels that are at least this probable; needs a second stage", ge=0, le=1
    )
    min_score: float | None = setting(None, "only labels with at least this score")
    most_specific: bool = setting(
        False,
        "leave out labels that are above another label of the answer; needs a hierarchy of labels",
    )
    include: LabelEntries = setting([], f"only these labels: {_ENTRIES}")
    exclude: LabelEntries = setting(
        [], f"none of these labels; others take their places: {_ENTRIES}"
    )
    language: str | None = setting(
        None,
        "language of the labels' names, such as sv, where the vocabulary has it",
        null="that of the model",
    )

    def require(self, model: Model) -> None:
        """Raise an InputError if a model cannot answer the question."""
        if self.fit or self.min_probability is not None:
            require_second_stage(model)
        if self.most_specific:
            require_hierarchy(model)

    @property
    def chooses_labels(self) -> bool:
        """True if only some labels may be predicted."""
        return bool(self.include or self.exclude)

    def count_ranked(self, model: Model) -> int:
        """Return the number of labels of each instance that are ranked; some of them are kept."""
        n_ranked = self.top_k
        if self.fit or self.most_specific or model.probabilistic:
            n_ranked = max(self.top_k, N_CANDIDATES)
        return min(n_ranked, model.n_labels)

    def select_kept(self, model: Model, ids: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Select the ranked labels that are in the answer.

        Parameters
        ----------
        model : Model
            The model that ranked the labels.
        ids : ndarray of int, shape (n, k)
            Labels by falling score; -1 where there are fewer.
        scores : ndarray of float, shape (n, k)
            Their scores, or probabilities.

        Returns
        -------
        ndarray of bool, shape (n, k)
        """
        limits: Any = self.top_k
        if self.fit:
            limits = count_fitting_labels(scores)[:, None]
        elif self.most_specific:
            # the first labels are chosen among the most specific ones
            limits = N_CANDIDATES
        kept = (ids != NO_LABEL) & (np.arange(ids.shape[1]) < limits)
        if self.min_score is not None:
            kept &= scores >= self.min_score
        if self.min_probability is not None:
            kept &= scores >= self.min_probability
        if self.most_specific:
            most = N_CANDIDATES if self.fit else self.top_k
            kept = _select_most_specific(model, ids, kept, most)
        return kept


class RankedLabels(NamedTuple):
    """The ranked labels of each instance, of which a question keeps some."""

    ids: np.ndarray  # int32 (n, k); -1 where there are fewer
    scores: np.ndarray  # float32 (n, k); -inf where there are fewer; or probabilities
    missed: float  # expected number of true labels that are not ranked
    # fields of the answer to each instance that do not depend on labels
    fields: list[dict[str, Any]]


def make_answers(
    predictor: "Predictor",
    question: Question,
    ranked: RankedLabels,
    chosen: tuple[np.ndarray, np.ndarray] | None = None,
) -> Iterator[Answer]:
    """Answer a question for each instance.

    Parameters
    ----------
    predictor : Predictor
        The predictor, which names the labels.
    question : Question
        The question.
    ranked : RankedLabels
        The ranked labels.
    chosen : tuple of ndarray, optional
        Ids and probabilities (n, k) of labels that were chosen among the ranked ones for another
        reason than probability; by default all.
    """
    model = predictor.model
    ids = ranked.ids
    scores = ranked.scores
    if chosen is not None:
        ids, scores = chosen
    kept = question.select_kept(model, ids, scores)
    qualities: list[ExpectedQuality | None] = [None] * len(ids)
    fits: list[int | None] = [None] * len(ids)
    if model.probabilistic:
        quality = estimate_quality(np.where(kept, scores, -np.inf), ranked.scores, ranked.missed)
        sums = zip(quality.labels, quality.right, quality.true, strict=True)
        qualities = [ExpectedQuality(labels, right, true) for labels, right, true in sums]
        n_fitting = count_fitting_labels(ranked.scores)
        if question.most_specific:
            fitting = np.arange(ids.shape[1]) < n_fitting[:, None]
            n_fitting = np.count_nonzero(kept & fitting, axis=1)
        fits = n_fitting.tolist()
    # as lists and rows, which are faster than single elements of arrays
    rows = zip(qualities, fits, ranked.fields, ids.tolist(), kept, scores, strict=True)
    for quality, fit, fields, row_ids, row_kept, row_scores in rows:
        labels = []
        for label, is_kept, score in zip(row_ids, row_kept, row_scores, strict=True):
            if is_kept:
                labels.append(_make_label_fields(predictor, label, score))
        yield Answer.with_quality(quality, labels=labels, fit=fit, **fields)


def _make_label_fields(predictor: "Predictor", label: int, score: np.float32) -> dict[str, Any]:
    fields = make_label_entry(predictor, label)
    fields["score"] = shorten_float(score)
    if predictor.model.probabilistic:
        fields["probability"] = fields["score"]
    return fields


def estimate_missed_labels(model: Model, allowed: np.ndarray | None, n_ranked: int) -> float:
    """Estimate the number of true labels of an instance that are not ranked.

    Parameters
    ----------
    model : Model
        The model; the result is 0 without a second stage.
    allowed : ndarray of bool, shape (l,), or None
        Labels that may be predicted, of which true ones count; None: all.
    n_ranked : int
        Number of labels of an instance that are ranked.
    """
    if not has_second_stage(model):
        return 0.0
    missed = model.reranker.missed
    if allowed is None:
        return missed
    if np.count_nonzero(allowed) <= n_ranked:
        return 0.0
    return missed * float(model.counts[allowed].sum() / max(model.counts.sum(), 1))


def _select_most_specific(model: Model, ids: np.ndarray, kept: np.ndarray, most: int) -> np.ndarray:
    """Select the kept labels that have no other kept label below them, at most ``most``.

    Returns bool (n, k).
    """
    above = require_hierarchy(model)
    selected = np.zeros_like(kept)
    for row, (labels, is_kept) in enumerate(zip(ids, kept, strict=True)):
        most_specific = select_most_specific(labels[is_kept].tolist(), above, most)
        selected[row] = np.isin(labels, most_specific)
    return selected


def require_hierarchy(model: Model) -> Any:
    """Return the labels above each label.

    Raises
    ------
    InputError
        If the model has no hierarchy.
    """
    if model.above is None:
        remedy = "train with hierarchy: ' > ', or another separator of levels"
        if "vocabulary" in model.transform.get("source", {}).get("files", {}):
            remedy = "train with hierarchy: broader, and a SKOS vocabulary that has skos:broader"
        raise InputError("its labels are no hierarchy", path=model.path, remedy=remedy)
    return model.above
