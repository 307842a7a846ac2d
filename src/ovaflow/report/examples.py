"""The sections on test documents and failures: documents with their true and predicted labels, and what fails most."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ovaflow.report import wording, words
from ovaflow.report.tables import Cell, Column, Row, Table, cell

EXCERPT = 420
"""Characters of a text that are shown."""

TRUE_SHOWN = 20
"""True labels of a document that are shown; the rest is counted."""

FEATURES_SHOWN = 12
"""Features shown for a document without text, heaviest first."""

WORDS_OF_CONFUSED = 4


class TrueLabel(NamedTuple):
    """A true label of a document."""

    name: str
    positives: int  # in training
    found: list  # numbers of the runs that predicted it


class PredictedLabel(NamedTuple):
    """A predicted label of a document."""

    name: str
    score: float
    hit: bool
    probability: float | None  # of calibrated runs
    up: list  # words that push its score up most, and by how much
    down: list


@dataclass(frozen=True)
class Example:
    """A test document."""

    row: int  # its place in the test set, from 0
    pieces: list  # the beginning of its text; empty when the source had only features
    features: list  # names of its heaviest features; empty when there is a text
    true: list
    more: int  # true labels beyond those listed
    predictions: list  # pairs of a run's number and its labels by descending score


def choose(hits, n_true, wanted, seed=0):
    """Draw documents by the first run's ``hits`` (n, k): of each kind the test set's share, but at least one.

    The kinds are: all found that could be found, some found, none found. Documents without labels are never drawn.
    """
    found, possible = hits.sum(axis=1), np.minimum(n_true, hits.shape[1])
    kinds = [found == possible, (found > 0) & (found < possible), found == 0]
    kinds = [np.flatnonzero(kind & (n_true > 0)) for kind in kinds]
    random = np.random.default_rng(seed)
    drawn = [
        random.choice(kind, amount, replace=False)
        for kind, amount in zip(kinds, _allot([len(kind) for kind in kinds], wanted), strict=True)
    ]
    return np.sort(np.concatenate(drawn)).astype(np.int64)


def _allot(sizes, wanted):
    wanted = min(wanted, sum(sizes))
    amounts = [0] * len(sizes)
    for _ in range(wanted):
        # a kind that has none yet comes first, then the kind farthest below its share
        def lack(i):
            if amounts[i] == sizes[i]:
                return (-1, 0.0)
            return (amounts[i] == 0, sizes[i] * wanted / sum(sizes) - amounts[i])

        amounts[max(range(len(sizes)), key=lack)] += 1
    return amounts


class Documents:
    """Test documents of a dataset, as some runs see them.

    ``outcomes`` are ids, scores and hits of each run, all (n, k); ``explained`` is the run whose predictions are
    explained with its predictor; ``sigmoids`` are calibrations by the numbers of their runs.
    """

    def __init__(self, dataset, counts, outcomes, explained=None, sigmoids=None):
        self.dataset, self.counts, self.outcomes = dataset, counts, outcomes
        self.explained, self.sigmoids = explained, sigmoids or {}

    def choose(self, wanted, seed=0):
        """Draw documents by what the first run makes of them."""
        return choose(self.outcomes[0][2], np.diff(self.dataset.test.Y.indptr), wanted, seed)

    def describe(self, rows, runs=None):
        """Documents with names and texts, as some of the runs see them, by default all."""
        runs = range(len(self.outcomes)) if runs is None else runs
        texts = self.dataset.test_texts(rows) or [""] * len(rows)
        return [self._example(int(row), text, runs) for row, text in zip(rows, texts, strict=True)]

    def label_name(self, label):
        """Name of a label as the page shows it, ``label 17`` where the source has none."""
        names = self.dataset.label_names
        return wording.plain(names[label]) if names and names[label].strip() else f"label {label}"

    def _example(self, row, text, runs):
        true, more = self._true(row, runs)
        features = [] if text else self._heaviest(row)
        text = wording.plain(text, EXCERPT)
        pieces, pushing = self._explained(row, text) if self.explained else ([words.Piece(text)] if text else [], {})
        predictions = [(number, self._predictions(row, number, pushing.get(number, {}))) for number in runs]
        return Example(row, pieces, features, true, more, predictions)

    def _true(self, row, runs):
        true = _entries(self.dataset.test.Y, row)[0]
        order = true[np.argsort(-self.counts[true], kind="stable")]
        found = {number: set(self.outcomes[number][0][row].tolist()) for number in runs}
        labels = [
            TrueLabel(self.label_name(label), int(self.counts[label]), [n for n in runs if int(label) in found[n]])
            for label in order[:TRUE_SHOWN]
        ]
        return labels, len(true) - len(labels)

    def _heaviest(self, row):
        indices, data = _entries(self.dataset.test.X, row)
        names = self.dataset.feature_names
        real = indices < len(names)
        order = np.argsort(-np.abs(data[real]), kind="stable")[:FEATURES_SHOWN]
        return [wording.plain(names[column], 40) for column in indices[real][order]]

    def _explained(self, row, text):
        """The text cut where words speak for labels, and the words of each label of the run that is explained."""
        number, predictor = self.explained
        ids, _, hits = self.outcomes[number]
        parts = words.parts_of(predictor, self.dataset.test.X, row, ids[row][ids[row] >= 0])
        pushing = {number: {label: words.words_of(predictor, part) for label, part in parts.items()}}
        return words.cut_text(predictor, text, parts, set(ids[row][hits[row]].tolist())), pushing

    def _predictions(self, row, number, pushing):
        ids, scores, hits = (array[row] for array in self.outcomes[number])
        sigmoids = self.sigmoids.get(number)
        likely = [None] * len(ids) if sigmoids is None else sigmoids.probabilities(ids, scores).tolist()
        return [
            PredictedLabel(
                self.label_name(label), float(score), bool(hit), probability, *pushing.get(int(label), ([], []))
            )
            for label, score, hit, probability in zip(ids, scores, hits, likely, strict=True)
            if label >= 0
        ]


def _entries(matrix, row):
    start, end = matrix.indptr[row], matrix.indptr[row + 1]
    return matrix.indices[start:end], matrix.data[start:end]


@dataclass(frozen=True)
class Failures:
    """Failures of a run among its best k predictions."""

    run: Any
    k: int
    wrong: list  # documents with the highest scores that are wrong
    missed: Table | None
    confused: Table | None


def describe_failures(documents, runs, amount):
    """Failures of the run that is explained, or else of the first; None where nothing was analysed or nothing fails."""
    number, predictor = documents.explained or (0, None)
    found = runs[number].analysis
    if not amount or found is None or not (found.wrong or found.missed):
        return None
    wrong = documents.describe([each["row"] for each in found.wrong[:amount]], [number])
    missed = _missed_table(documents, found.missed[:amount]) if found.missed else None
    confused = _confused_table(documents, predictor, found.confused[:amount]) if found.confused else None
    return Failures(runs[number], found.k, wrong, missed, confused)


def _missed_table(documents, missed):
    columns = [
        Column("training positives"),
        Column("true", "test instances"),
        Column("found", "test instances"),
        Column("missed", "test instances"),
        Column("found, %", "test instances"),
    ]
    rows = []
    for each in missed:
        label, true, found = each["label"], each["true"], each["found"]
        cells = [cell(number, wording.count) for number in (int(documents.counts[label]), true, found, true - found)]
        cells.append(cell(found / true, partial(wording.percent, digits=0)))
        rows.append(Row(documents.label_name(label), cells))
    return Table("label", columns, rows, "Labels missed most often")


def _confused_table(documents, predictor, confused):
    columns = [
        Column("predicted instead", words=True),
        Column("instances"),
        Column("by chance", hint="expected if wrong predictions were spread at random"),
    ]
    if predictor:
        columns += [Column(f"words of the {which} label", words=True) for which in ("missed", "predicted")]
    rows = []
    for each in confused:
        cells = [
            Cell(documents.label_name(each["predicted"])),
            cell(each["times"], wording.count),
            cell(each["expected"], wording.decimal),
        ]
        if predictor:
            cells += [Cell(_strongest(predictor, each[side])) for side in ("true", "predicted")]
        rows.append(Row(documents.label_name(each["true"]), cells))
    return Table("missed label", columns, rows, "Labels predicted instead of others")


def _strongest(predictor, label):
    # a label that never occurs in training has no weights
    if not predictor.model.trained[label]:
        return wording.MISSING
    return ", ".join(word for word, _ in words.strongest_words(predictor, label, WORDS_OF_CONFUSED))


def show_examples(anchor, results):
    """The test documents."""
    return results.examples


def show_failures(anchor, results):
    """The failures of one run."""
    return results.failures
