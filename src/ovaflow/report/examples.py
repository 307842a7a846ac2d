"""The sections on test texts and on labels: what the best run says, the words behind it, and what
it misses.
"""

import os
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from ovaflow.prediction.explanation import (
    compute_contributions,
    find_nearest_labels,
    find_spans,
    find_strongest_features,
)
from ovaflow.prediction.predictor import Predictor
from ovaflow.report import errors_page, wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.sparse.csr import select_rows

MIN_WORD_SHARE = 0.08
"""Words that push a label less than this share of the strongest word are not shown."""

MIN_MARK_STRENGTH = 0.2
"""Words of a text that count less than this share of its strongest word are not marked."""

MAX_WORDS_UP, MAX_WORDS_DOWN = 2, 1  # words shown of a prediction
SAMPLED_LABELS = 8  # labels shown with their words, spread from the most frequent to the rarest
WORDS_OF_LABEL, NEAREST_OF_LABEL = 7, 3  # words and nearest labels of each
EXCERPT_LENGTH = 190  # characters shown of a text
MAX_PREDICTED = 5  # predicted labels of a text that are shown
MAX_MISSED = 6  # missed labels of a text that are shown; the rest is counted
MAX_FEATURES = 12  # features shown of an instance without text, heaviest first


class Piece(NamedTuple):
    """A stretch of a text; ``hit`` or ``miss`` is a word that speaks for a true or a wrong
    prediction.
    """

    text: str
    kind: str = ""
    strength: float = 0.0  # from 0 to 1, relative to the strongest word of the text


def open_explainable(run):
    """Open the predictor of a run whose scores are sums over features; None for other runs."""
    model = run.open_model()
    return Predictor(model) if model.linear is not None else None


def explain_predictions(predictor, X, row, labels):
    """Explanations of the scores of labels for an instance, by label."""
    x = select_rows(X, np.array([row]))
    return {int(label): compute_contributions(predictor, x, int(label)) for label in labels}


def find_pushing_words(predictor, explanation):
    """The words that push a label up and down most, with their contributions."""
    strongest = max(
        (abs(value) for _, value in explanation.up[:1] + explanation.down[:1]), default=0
    )
    sides = []
    for features, most in ((explanation.up, MAX_WORDS_UP), (explanation.down, MAX_WORDS_DOWN)):
        shown = [each for each in features[:most] if abs(each[1]) > MIN_WORD_SHARE * strongest]
        sides.append([(_word(predictor, feature), value) for feature, value in shown])
    return tuple(sides)


def cut_text(predictor, text, explanations, true):
    """Cut a text where words speak for predicted labels: for those that are ``true``, or for
    others.
    """
    towards = _largest_contributions(explanations[label] for label in explanations if label in true)
    against = _largest_contributions(
        explanations[label] for label in explanations if label not in true
    )
    top = max([*towards.values(), *against.values()], default=0)
    spans = find_spans(predictor, text) if predictor.takes_text and top else {}
    marks = []
    for feature, places in spans.items():
        hit = towards.get(feature, 0) / top
        miss = against.get(feature, 0) / top
        if max(hit, miss) >= MIN_MARK_STRENGTH:
            kind = "hit" if hit >= miss else "miss"
            marks += [(-max(hit, miss), start, end, kind) for start, end in places]
    pieces = []
    at = 0
    for strength, start, end, kind in sorted(_without_overlaps(marks), key=itemgetter(1)):
        pieces += [Piece(text[at:start]), Piece(text[start:end], kind, -strength)]
        at = end
    return [piece for piece in [*pieces, Piece(text[at:])] if piece.text]


def _without_overlaps(marks):
    """The strongest of features that overlap, such as a word and a pair with it."""
    taken = set()
    kept = []
    for mark in sorted(marks):
        _, start, end, _ = mark
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            kept.append(mark)
    return kept


def _largest_contributions(explanations):
    largest = {}
    for explanation in explanations:
        for feature, value in explanation.up:
            largest[feature] = max(largest.get(feature, 0), value)
    return largest


def sample_labels(predictor, name_of, amount=SAMPLED_LABELS):
    """Some labels with their strongest words, at evenly spaced logarithms of the rank from head to
    tail.
    """
    counts = np.where(predictor.model.trained, predictor.model.counts, 0)
    ranked = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    if not len(ranked):
        return []
    ranks = np.unique(np.geomspace(1, len(ranked), amount).astype(np.int64)) - 1
    return [_label_words(predictor, int(label), name_of) for label in ranked[ranks]]


def _label_words(predictor, label, name_of):
    nearest = [
        (name_of(other), cosine)
        for other, cosine in find_nearest_labels(predictor, label, NEAREST_OF_LABEL)
    ]
    entry = {"name": name_of(label), "positives": int(predictor.model.counts[label])}
    return entry | {
        "words": list_strongest_words(predictor, label, WORDS_OF_LABEL),
        "nearest": nearest,
    }


def list_strongest_words(predictor, label, amount):
    up, *_ = find_strongest_features(predictor, label, amount)
    return [(_word(predictor, feature), weight) for feature, weight in up]


def _word(predictor, feature):
    names = predictor.feature_names
    return wording.plain(names[feature], 40) if names else f"feature {feature}"


class MissedLabel(NamedTuple):
    """A true label that was not predicted."""

    name: str
    uri: str  # where it is a subject on the web
    positives: int  # in training


class PredictedLabel(NamedTuple):
    """A label that counts as predicted."""

    name: str
    uri: str  # where it is a subject on the web
    value: float  # probability, or score where there are no probabilities
    hit: bool
    up: list  # words that push its score up most, and by how much
    down: list


@dataclass(frozen=True)
class Example:
    """A test instance as the best run sees it."""

    row: int  # its place in the test set, from 0
    record: str  # its id, or where in the file it is; empty where that is not known
    pieces: list  # the beginning of its text; empty when the source had only features
    features: list  # names of its heaviest features; empty when there is a text
    predicted: list
    missed: list
    more: int  # missed labels beyond those listed


def choose_instances(hits, n_true, amount, seed=0):
    """Draw labelled instances, at least one with all, some and none of its labels among the hits
    (n, k).
    """
    n_hits = hits.sum(axis=1)
    possible = np.minimum(n_true, hits.shape[1])
    order = np.random.default_rng(seed).permutation(np.flatnonzero(n_true))
    kinds = np.select([n_hits == 0, n_hits < possible], [0, 1], 2)[order]
    _, first = np.unique(kinds, return_index=True)
    return np.sort(np.concatenate([order[first], np.delete(order, first)])[:amount])


class ExampleTexts:
    """Test instances of a dataset as a run sees them; ``predictor`` explains its scores, if it is
    not None.
    """

    def __init__(self, dataset, counts, measured, predictor) -> None:
        self.dataset = dataset
        self.counts = counts
        self.measured = measured
        self.predictor = predictor

    def describe(self, rows):
        texts = self.dataset.test_texts(rows) or [""] * len(rows)
        records = self.dataset.records("test", rows)
        return [
            self._example(int(row), *about)
            for row, *about in zip(rows, records, texts, strict=True)
        ]

    def label_name(self, label):
        """Return the name of a label as the page shows it."""
        return wording.plain(self.dataset.label_name(label))

    def label_uri(self, label):
        uris = self.dataset.label_uris
        return uris[label] if len(uris) and uris[label].startswith(("http://", "https://")) else ""

    def _example(self, row, record, text):
        predicted = self.measured.predicted[row]
        ids = self.measured.candidates.ids[row][predicted]
        values = self.measured.values[row][predicted]
        true = set(self.dataset.test.Y.part(row, row + 1).indices.tolist())
        features = []
        if not text:
            features = [
                wording.plain(name, 40)
                for name in self.dataset.heaviest_features("test", row, MAX_FEATURES)
            ]
        text = wording.plain(text, EXCERPT_LENGTH)
        explanations = (
            explain_predictions(self.predictor, self.dataset.test.X, row, ids)
            if self.predictor
            else {}
        )
        pieces = (
            cut_text(self.predictor, text, explanations, true) if self.predictor else [Piece(text)]
        )
        labels = []
        for label, value in list(zip(ids.tolist(), values.tolist(), strict=True))[:MAX_PREDICTED]:
            up, down = (
                find_pushing_words(self.predictor, explanations[label])
                if self.predictor
                else ([], [])
            )
            about = self.label_name(label), self.label_uri(label)
            labels.append(PredictedLabel(*about, value, label in true, up, down))
        missed = sorted(true.difference(ids.tolist()), key=lambda label: -self.counts[label])
        shown = [self._missed(label) for label in missed[:MAX_MISSED]]
        return Example(
            row, record, pieces if text else [], features, labels, shown, len(missed) - len(shown)
        )

    def _missed(self, label):
        return MissedLabel(self.label_name(label), self.label_uri(label), int(self.counts[label]))


def make_examples(run, counts, amount, seed):
    """Describe some test instances and labels by a run, and count what it confuses; empty without
    examples.
    """
    if not amount:
        return {}
    predictor = open_explainable(run)
    texts = ExampleTexts(run.dataset, counts, run.measured, predictor)
    order = run.measured.order
    rows = choose_instances(order.hits, order.positives, amount, seed)
    confused = run.analysis.get("confused", [])[:MAX_CONFUSED_PAIRS]
    return {
        "texts": texts.describe(rows),
        "rule": run.measured.rule,
        "explained": predictor is not None,
        "labels": sample_labels(predictor, texts.label_name) if predictor else [],
        "confused": _confused_table(texts, confused) if confused else None,
    }


MAX_CONFUSED_PAIRS = 10


def _confused_table(texts, confused):
    columns = [
        Column("predicted instead", lambda each: texts.label_name(each["predicted"])),
        Column("instances", itemgetter("times"), wording.count),
        Column("by chance", itemgetter("expected"), wording.decimal, hint=_BY_CHANCE),
    ]

    def row_of(each, cells):
        return Row(texts.label_name(each["true"]), cells)

    return make_table(
        "Labels predicted instead of others", "missed label", columns, confused, row_of
    )


_BY_CHANCE = "expected if wrong predictions were spread at random"


def show_examples(anchor, results):
    if not results.examples.get("texts"):
        return None
    pages = []
    if results.asked.page_folder is not None:
        for run in results.runs:
            path = run.path / errors_page.FILE_NAME
            if path.exists():
                relative = Path(os.path.relpath(path, results.asked.page_folder))
                pages.append((run, quote(relative.as_posix())))
    return results.examples | {"run": results.best, "pages": pages}


def show_labels(anchor, results):
    labels = results.examples.get("labels")
    return {"run": results.best, "labels": labels} if labels else None


SECTION = ReportSection("texts", "Texts", show_examples)
LABELS_SECTION = ReportSection("labels", "Labels and their words", show_labels, folded=True)
