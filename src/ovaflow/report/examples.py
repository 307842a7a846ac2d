"""The section Texts: test instances with the labels that the best run predicts, and reasons."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.prediction.explanation import LabelContributions
from ovaflow.prediction.predictor import Predictor
from ovaflow.report import errors_page, wording
from ovaflow.report.label_words import (
    MAX_NAME_CHARACTERS,
    WeightedWord,
    explain_predictions,
    find_pushing_words,
    open_explainable,
    sample_labels,
)
from ovaflow.report.marked_text import Piece, cut_text
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Cell, Column, Row, Table, make_table

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run

EXCERPT_LENGTH = 190  # characters shown of a text
MAX_PREDICTED = 5  # predicted labels of a text that are shown
MAX_MISSED = 6  # missed labels of a text that are shown; the others are counted
MAX_FEATURES = 12  # features shown of an instance without text, heaviest first
MAX_CONFUSED_PAIRS = 10  # rows of the table of labels predicted instead of others


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
                features.append(wording.plain(name, MAX_NAME_CHARACTERS))
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
            path = run.folder / errors_page.FILE_NAME
            if path.exists():
                relative = Path(os.path.relpath(path, results.request.page_folder))
                pages.append((run, quote(relative.as_posix())))
    return results.examples | {"run": results.best, "pages": pages}


SECTION = ReportSection("texts", "Texts", show_examples)
