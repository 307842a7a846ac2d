"""The sections Texts, and Labels and their words: predictions of the best run with reasons."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.prediction.explanation import (
    LabelContributions,
    compute_contributions,
    find_nearest_labels,
    find_spans,
    find_strongest_features,
)
from ovaflow.prediction.predictor import Predictor
from ovaflow.report import errors_page, wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Cell, Column, Row, Table, make_table
from ovaflow.sparse.csr import CSR, select_rows

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run

MIN_WORD_SHARE = 0.08
"""Words that push a label less than this share of the strongest word are not shown."""

MIN_MARK_STRENGTH = 0.2
"""Words of a text that count less than this share of its strongest word are not marked."""

MAX_WORDS_UP = 2  # words shown that push a predicted label up
MAX_WORDS_DOWN = 1  # words shown that push it down
SAMPLED_LABELS = 8  # labels shown with their words, spread from the most frequent to the rarest
WORDS_OF_LABEL = 7  # words shown of each of these labels
NEAREST_OF_LABEL = 3  # nearest labels shown of each of these labels
EXCERPT_LENGTH = 190  # characters shown of a text
MAX_NAME_LETTERS = 40  # characters shown of a feature's name
MAX_PREDICTED = 5  # predicted labels of a text that are shown
MAX_MISSED = 6  # missed labels of a text that are shown; the others are counted
MAX_FEATURES = 12  # features shown of an instance without text, heaviest first
MAX_CONFUSED_PAIRS = 10  # rows of the table of labels predicted instead of others

WeightedWord = tuple[str, float]
"""Name of a feature with its weight or contribution."""


class Piece(NamedTuple):
    """A stretch of a text.

    ``kind`` is "hit" for a word that supports a right prediction, "miss" for one that supports a
    wrong prediction, and empty between such words.
    """

    text: str
    kind: str = ""
    strength: float = 0.0  # from 0 to 1, relative to the strongest word of the text


class _Mark(NamedTuple):
    """A word to mark in a text; marks are sorted by falling strength."""

    negative_strength: float
    start: int
    end: int
    kind: str


def open_explainable(run: Run) -> Predictor | None:
    """Open the predictor of a run whose scores are sums over features; None for other runs."""
    model = run.open_model()
    if model.linear is None:
        return None
    return Predictor(model)


def explain_predictions(
    predictor: Predictor, X: CSR, row: int, labels: Iterable[int]
) -> dict[int, LabelContributions]:
    """Explain the scores of labels for the instance in a row, by label."""
    x = select_rows(X, np.array([row]))
    explanations = {}
    for label in labels:
        explanations[int(label)] = compute_contributions(predictor, x, int(label))
    return explanations


def find_pushing_words(
    predictor: Predictor, explanation: LabelContributions
) -> tuple[list[WeightedWord], list[WeightedWord]]:
    """Find the words that push a label up and down most, with their contributions."""
    first = explanation.up[:1] + explanation.down[:1]
    strongest = max((abs(value) for _, value in first), default=0)

    def name_strong(features: list[tuple[int, float]]) -> list[WeightedWord]:
        words = []
        for feature, value in features:
            if abs(value) > MIN_WORD_SHARE * strongest:
                words.append((_get_word(predictor, feature), value))
        return words

    up = name_strong(explanation.up[:MAX_WORDS_UP])
    down = name_strong(explanation.down[:MAX_WORDS_DOWN])
    return up, down


def cut_text(
    predictor: Predictor,
    text: str,
    explanations: dict[int, LabelContributions],
    true: set[int],
) -> list[Piece]:
    """Cut a text at the words that support predicted labels.

    Parameters
    ----------
    predictor : Predictor
        The predictor that explained the labels.
    text : str
        The text.
    explanations : dict
        Explanation of each predicted label.
    true : set of int
        The true labels: words that support them are hits, others misses.
    """
    supporting_true = []
    supporting_false = []
    for label, explanation in explanations.items():
        if label in true:
            supporting_true.append(explanation)
        else:
            supporting_false.append(explanation)
    hits = _find_largest_contributions(supporting_true)
    misses = _find_largest_contributions(supporting_false)
    strongest = max([*hits.values(), *misses.values()], default=0)
    spans = find_spans(predictor, text) if predictor.takes_text and strongest else {}
    marks = []
    for feature, places in spans.items():
        hit = hits.get(feature, 0) / strongest
        miss = misses.get(feature, 0) / strongest
        strength = max(hit, miss)
        if strength >= MIN_MARK_STRENGTH:
            kind = "hit" if hit >= miss else "miss"
            marks += [_Mark(-strength, start, end, kind) for start, end in places]
    return _cut_at_marks(text, _remove_overlaps(marks))


def _cut_at_marks(text: str, marks: Iterable[_Mark]) -> list[Piece]:
    pieces = []
    end = 0
    for mark in sorted(marks, key=lambda mark: mark.start):
        pieces.append(Piece(text[end : mark.start]))
        pieces.append(Piece(text[mark.start : mark.end], mark.kind, -mark.negative_strength))
        end = mark.end
    pieces.append(Piece(text[end:]))
    return [piece for piece in pieces if piece.text]


def _remove_overlaps(marks: Iterable[_Mark]) -> list[_Mark]:
    """Keep the strongest of marks that overlap, such as a word and a pair with it."""
    taken: set[int] = set()
    kept = []
    for mark in sorted(marks):
        positions = range(mark.start, mark.end)
        if taken.isdisjoint(positions):
            taken.update(positions)
            kept.append(mark)
    return kept


def _find_largest_contributions(explanations: Iterable[LabelContributions]) -> dict[int, float]:
    """Find the largest positive contribution of each feature to any of the labels."""
    largest: dict[int, float] = {}
    for explanation in explanations:
        for feature, value in explanation.up:
            largest[feature] = max(largest.get(feature, 0), value)
    return largest


def sample_labels(
    predictor: Predictor, get_name: Callable[[int], str], amount: int = SAMPLED_LABELS
) -> list[dict[str, Any]]:
    """Describe some labels by their strongest words, from the most frequent to the rarest.

    The logarithms of their ranks by frequency are evenly spaced.
    """
    counts = np.where(predictor.model.trained, predictor.model.counts, 0)
    ranked = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    if not len(ranked):
        return []
    ranks = np.unique(np.geomspace(1, len(ranked), amount).astype(np.int64)) - 1
    return [_describe_label(predictor, int(label), get_name) for label in ranked[ranks]]


def _describe_label(
    predictor: Predictor, label: int, get_name: Callable[[int], str]
) -> dict[str, Any]:
    nearest = []
    for other, cosine in find_nearest_labels(predictor, label, NEAREST_OF_LABEL):
        nearest.append((get_name(other), cosine))
    return {
        "name": get_name(label),
        "positives": int(predictor.model.counts[label]),
        "words": list_strongest_words(predictor, label, WORDS_OF_LABEL),
        "nearest": nearest,
    }


def list_strongest_words(predictor: Predictor, label: int, amount: int) -> list[WeightedWord]:
    """List the features with the largest weights of a label."""
    up, _, _ = find_strongest_features(predictor, label, amount)
    return [(_get_word(predictor, feature), weight) for feature, weight in up]


def _get_word(predictor: Predictor, feature: int) -> str:
    names = predictor.feature_names
    if not names:
        return f"feature {feature}"
    return wording.plain(names[feature], MAX_NAME_LETTERS)


class MissedLabel(NamedTuple):
    """A true label that was not predicted."""

    name: str
    uri: str  # on the web; empty without one
    positives: int  # in training


class PredictedLabel(NamedTuple):
    """A label that counts as predicted."""

    name: str
    uri: str  # on the web; empty without one
    value: float  # probability, or score where there are no probabilities
    hit: bool
    up: list[WeightedWord]  # words that push its score up most
    down: list[WeightedWord]  # words that push its score down most


@dataclass(frozen=True)
class Example:
    """A test instance with the predictions of the best run."""

    row: int  # in the test set, from 0
    record: str  # its id, or its position in the file; empty where that is not known
    pieces: list[Piece]  # the beginning of its text; empty when the source had only features
    features: list[str]  # names of its heaviest features; empty when there is a text
    predicted: list[PredictedLabel]
    missed: list[MissedLabel]
    more: int  # number of further missed labels


def choose_instances(
    hits: np.ndarray, n_true: np.ndarray, amount: int, seed: int = 0
) -> np.ndarray:
    """Draw labelled instances, at least one each with all, some and none of its labels found.

    Parameters
    ----------
    hits : ndarray of bool, shape (n, k)
        Predicted labels that are true.
    n_true : ndarray of int, shape (n,)
        Number of true labels.
    amount : int
        Number of instances.
    seed : int
        Seed of the generator.

    Returns
    -------
    ndarray of int
        Rows, ascending.
    """
    n_hits = hits.sum(axis=1)
    possible = np.minimum(n_true, hits.shape[1])
    order = np.random.default_rng(seed).permutation(np.flatnonzero(n_true))
    # 0: no label found, 1: some, 2: all that k predictions can find
    kinds = np.select([n_hits == 0, n_hits < possible], [0, 1], 2)[order]
    _, first = np.unique(kinds, return_index=True)
    others = np.delete(order, first)
    return np.sort(np.concatenate([order[first], others])[:amount])


class ExampleTexts:
    """Test instances of a dataset with the predictions of a run.

    Parameters
    ----------
    dataset : Dataset
        The dataset.
    counts : ndarray of int, shape (l,)
        Training positives of each label.
    measured : EvaluatedPredictions
        The predictions next to the true labels.
    predictor : Predictor or None
        Explains scores; None where they cannot be explained.
    """

    def __init__(
        self,
        dataset: Dataset,
        counts: np.ndarray,
        measured: EvaluatedPredictions,
        predictor: Predictor | None,
    ) -> None:
        self.dataset = dataset
        self.counts = counts
        self.measured = measured
        self.predictor = predictor

    def describe(self, rows: np.ndarray) -> list[Example]:
        """Describe the test instances in some rows."""
        numbers = rows.tolist()
        texts = self.dataset.test_texts(numbers) or [""] * len(numbers)
        records = self.dataset.records("test", numbers)
        examples = []
        for row, record, text in zip(numbers, records, texts, strict=True):
            examples.append(self._make_example(row, record, text))
        return examples

    def label_name(self, label: int) -> str:
        """Return the name of a label as the page shows it."""
        return wording.plain(self.dataset.label_name(label))

    def label_uri(self, label: int) -> str:
        """Return the URI of a label if it is one of the web, or else an empty string."""
        uris = self.dataset.label_uris
        if len(uris) and uris[label].startswith(("http://", "https://")):
            return uris[label]
        return ""

    def _make_example(self, row: int, record: str, text: str) -> Example:
        predicted = self.measured.predicted[row]
        ids = self.measured.candidates.ids[row][predicted].tolist()
        values = self.measured.values[row][predicted].tolist()
        true = set(self.dataset.test.Y.part(row, row + 1).indices.tolist())
        missed = sorted(true.difference(ids), key=lambda label: -self.counts[label])
        explanations = {}
        pieces = []
        features = []
        if self.predictor is not None:
            explanations = explain_predictions(self.predictor, self.dataset.test.X, row, ids)
        excerpt = wording.plain(text, EXCERPT_LENGTH)
        if excerpt:
            pieces = self._cut_excerpt(excerpt, explanations, true)
        if not text:
            for name in self.dataset.heaviest_features("test", row, MAX_FEATURES):
                features.append(wording.plain(name, MAX_NAME_LETTERS))
        labels = []
        for label, value in zip(ids[:MAX_PREDICTED], values[:MAX_PREDICTED], strict=True):
            labels.append(self._make_predicted(label, value, explanations, hit=label in true))
        return Example(
            row=row,
            record=record,
            pieces=pieces,
            features=features,
            predicted=labels,
            missed=[self._make_missed(label) for label in missed[:MAX_MISSED]],
            more=len(missed[MAX_MISSED:]),
        )

    def _cut_excerpt(
        self, excerpt: str, explanations: dict[int, LabelContributions], true: set[int]
    ) -> list[Piece]:
        if self.predictor is None:
            return [Piece(excerpt)]
        return cut_text(self.predictor, excerpt, explanations, true)

    def _make_predicted(
        self, label: int, value: float, explanations: dict[int, LabelContributions], *, hit: bool
    ) -> PredictedLabel:
        up: list[WeightedWord] = []
        down: list[WeightedWord] = []
        if self.predictor is not None:
            up, down = find_pushing_words(self.predictor, explanations[label])
        return PredictedLabel(self.label_name(label), self.label_uri(label), value, hit, up, down)

    def _make_missed(self, label: int) -> MissedLabel:
        return MissedLabel(self.label_name(label), self.label_uri(label), int(self.counts[label]))


def make_examples(run: Run, counts: np.ndarray, amount: int, seed: int) -> dict[str, Any]:
    """Describe some test instances and labels by a run, and the labels that it confuses.

    Parameters
    ----------
    run : Run
        The run.
    counts : ndarray of int, shape (l,)
        Training positives of each label.
    amount : int
        Number of instances; with 0 the result is empty.
    seed : int
        Seed of the sample of instances.
    """
    if not amount:
        return {}
    predictor = open_explainable(run)
    texts = ExampleTexts(run.dataset, counts, run.measured, predictor)
    order = run.measured.order
    rows = choose_instances(order.hits, order.positives, amount, seed)
    labels = []
    if predictor is not None:
        labels = sample_labels(predictor, texts.label_name)
    return {
        "texts": texts.describe(rows),
        "rule": run.measured.rule,
        "explained": predictor is not None,
        "labels": labels,
        "confused": _make_confused_table(texts, run.analysis.get("confused", [])),
    }


def _make_confused_table(texts: ExampleTexts, confused: Sequence[dict[str, Any]]) -> Table | None:
    """Make the table of labels that are predicted instead of others; None without any."""
    if not confused:
        return None
    columns = [
        Column("predicted instead", lambda pair: texts.label_name(pair["predicted"])),
        Column("instances", itemgetter("times"), wording.count),
        Column(
            "by chance",
            itemgetter("expected"),
            wording.decimal,
            hint="expected if wrong predictions were spread at random",
        ),
    ]

    def make_row(pair: dict[str, Any], cells: list[Cell]) -> Row:
        return Row(texts.label_name(pair["true"]), cells)

    title = "Labels predicted instead of others"
    return make_table(title, "missed label", columns, confused[:MAX_CONFUSED_PAIRS], make_row)


def show_examples(results: DatasetResults) -> dict[str, Any] | None:
    """Show test instances by the best run, with links to the pages of errors; None without any."""
    if not results.examples.get("texts"):
        return None
    pages = []
    if results.request.page_folder is not None:
        for run in results.runs:
            path = run.path / errors_page.FILE_NAME
            if path.exists():
                relative = Path(os.path.relpath(path, results.request.page_folder))
                pages.append((run, quote(relative.as_posix())))
    return results.examples | {"run": results.best, "pages": pages}


def show_labels(results: DatasetResults) -> dict[str, Any] | None:
    """Show some labels with their words; None where scores cannot be explained."""
    labels = results.examples.get("labels")
    if not labels:
        return None
    return {"run": results.best, "labels": labels}


SECTION = ReportSection("texts", "Texts", show_examples)
LABELS_SECTION = ReportSection("labels", "Labels and their words", show_labels, folded=True)
