"""The sections on labels, test documents and failures: words behind predictions, and what fails most."""

import os
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from ovaflow.evaluation.ranking import find_hits
from ovaflow.model.model_file import open_any_model
from ovaflow.prediction.explanation import contributions, nearest_labels, spans_in_text, strongest_features
from ovaflow.prediction.predictor import Predictor
from ovaflow.report import errors_page, wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.reranking.answer_length import labels_that_fit
from ovaflow.sparse.csr import rows_of

LEAST_SHARE = 0.08
"""Words that push a label less than this share of the strongest word are not shown."""

LEAST_MARK = 0.2
"""Words of a text that count less than this share of its strongest word are not marked."""

UP, DOWN = 4, 2  # words shown of a prediction
LABELS = 8  # labels shown with their words, spread from the most frequent to the rarest
WORDS, NEAREST = 7, 3  # words and nearest labels of each


class Piece(NamedTuple):
    """A stretch of a text; ``hit`` or ``miss`` is a word that speaks for a true or a wrong prediction."""

    text: str
    kind: str = ""
    strength: float = 0.0  # from 0 to 1, relative to the strongest word of the text


def first_explained(folders):
    """Number and predictor of the first run whose scores are sums over features, None if there is no such run."""
    for number, folder in enumerate(folders):
        model = open_any_model(folder / "model.h5")
        if model.linear is not None:
            return number, Predictor(model)
    return None


def explain_labels(predictor, X, row, labels):
    """Explanations of the scores of labels for an instance, by label."""
    x = rows_of(X, np.array([row]))
    return {int(label): contributions(predictor, x, int(label)) for label in labels}


def words_of(predictor, explanation):
    """The words that push a label up and down most, with their contributions."""
    strongest = max((abs(value) for _, value in explanation.up[:1] + explanation.down[:1]), default=0)
    sides = []
    for features, most in ((explanation.up, UP), (explanation.down, DOWN)):
        shown = [each for each in features[:most] if abs(each[1]) > LEAST_SHARE * strongest]
        sides.append([(_word(predictor, feature), value) for feature, value in shown])
    return tuple(sides)


def cut_text(predictor, text, explanations, true):
    """Cut a text where words speak for predicted labels: for those that are ``true``, or for others."""
    towards = _largest_contributions(explanations[label] for label in explanations if label in true)
    against = _largest_contributions(explanations[label] for label in explanations if label not in true)
    top = max([*towards.values(), *against.values()], default=0)
    spans = spans_in_text(predictor, text) if predictor.takes_text and top else {}
    marks = []
    for feature, places in spans.items():
        hit, miss = towards.get(feature, 0) / top, against.get(feature, 0) / top
        if max(hit, miss) >= LEAST_MARK:
            kind = "hit" if hit >= miss else "miss"
            marks += [(-max(hit, miss), start, end, kind) for start, end in places]
    pieces, at = [], 0
    for strength, start, end, kind in sorted(_without_overlaps(marks), key=itemgetter(1)):
        pieces += [Piece(text[at:start]), Piece(text[start:end], kind, -strength)]
        at = end
    return [piece for piece in [*pieces, Piece(text[at:])] if piece.text]


def _without_overlaps(marks):
    """The strongest of features that overlap, such as a word and a pair with it."""
    taken, kept = set(), []
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


def sample_labels(predictor, name_of, amount=LABELS):
    """Some labels with their strongest words, at evenly spaced logarithms of the rank from head to tail."""
    counts = np.where(predictor.model.trained, predictor.model.counts, 0)
    ranked = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    if not len(ranked):
        return []
    ranks = np.unique(np.geomspace(1, len(ranked), amount).astype(np.int64)) - 1
    return [_label_words(predictor, int(label), name_of) for label in ranked[ranks]]


def _label_words(predictor, label, name_of):
    nearest = [(name_of(other), cosine) for other, cosine in nearest_labels(predictor, label, NEAREST)]
    entry = {"name": name_of(label), "positives": int(predictor.model.counts[label])}
    return entry | {"words": strongest_words(predictor, label, WORDS), "nearest": nearest}


def strongest_words(predictor, label, amount):
    up, *_ = strongest_features(predictor, label, amount)
    return [(_word(predictor, feature), weight) for feature, weight in up]


def _word(predictor, feature):
    names = predictor.feature_names
    return wording.plain(names[feature], 40) if names else f"feature {feature}"


EXCERPT = 420

TRUE_SHOWN = 20  # true labels of a document that are shown; the rest is counted
FEATURES_SHOWN = 12  # features shown for a document without text, heaviest first


def outcome(predictions, Y):
    """Ids, scores and hits (n, k) of predictions, and which labels fit, or None without probabilities."""
    ids, ranking, fits = predictions.ids, predictions.ranking, None
    if ranking is not None:
        fits = np.arange(ids.shape[1]) < labels_that_fit(ranking.probabilities)[:, None]
    return ids, predictions.scores, find_hits(ids, Y), fits


class TrueLabel(NamedTuple):
    name: str
    uri: str  # where it is a subject on the web
    positives: int  # in training
    runs: list  # numbers of the runs that predicted it


class RankedLabel(NamedTuple):
    name: str
    uri: str  # where it is a subject on the web
    score: float
    hit: bool
    fits: bool | None  # None where the score is no probability
    up: list  # words that push its score up most, and by how much
    down: list


@dataclass(frozen=True)
class Example:
    row: int  # its place in the test set, from 0
    record: str  # its id, or where in the file it is; empty where that is not known
    pieces: list  # the beginning of its text; empty when the source had only features
    features: list  # names of its heaviest features; empty when there is a text
    true: list
    more: int  # true labels beyond those listed
    predictions: list  # pairs of a run's number and its labels by descending score


def choose(hits, n_true, amount, seed=0):
    """Draw labelled documents, at least one with all, some and none of its labels among the first run's hits (n, k)."""
    n_hits, possible = hits.sum(axis=1), np.minimum(n_true, hits.shape[1])
    order = np.random.default_rng(seed).permutation(np.flatnonzero(n_true))
    kinds = np.select([n_hits == 0, n_hits < possible], [0, 1], 2)[order]
    _, first = np.unique(kinds, return_index=True)
    return np.sort(np.concatenate([order[first], np.delete(order, first)])[:amount])


class ExampleDocuments:
    def __init__(self, dataset, counts, outcomes, explained):
        self.dataset, self.counts = dataset, counts
        self.outcomes = outcomes  # of each run, by outcome()
        self.explained = explained  # number and predictor of the run that is explained, or None

    def describe(self, rows, runs=None):
        """Documents with names and texts, as some of the runs see them, by default all."""
        runs = range(len(self.outcomes)) if runs is None else runs
        texts, records = self.dataset.test_texts(rows) or [""] * len(rows), self.dataset.records("test", rows)
        documents = zip(rows, records, texts, strict=True)
        return [self._example(int(row), record, text, runs) for row, record, text in documents]

    def label_name(self, label):
        """Name of a label as the page shows it."""
        return wording.plain(self.dataset.label_name(label))

    def label_uri(self, label):
        uris = self.dataset.label_uris
        return uris[label] if len(uris) and uris[label].startswith(("http://", "https://")) else ""

    def table(self, title, corner, columns, entries, key="label"):
        """A table with a row for each entry, named after the label that it has as ``key``."""
        return make_table(title, corner, columns, entries, lambda entry, cells: Row(self.label_name(entry[key]), cells))

    def tested(self, title, columns, labels):
        positives = Column("training positives", lambda each: int(self.counts[each["label"]]), wording.count)
        return self.table(title, "label", [positives, *columns], labels)

    def _example(self, row, record, text, runs):
        true, more = self._true(row, runs)
        heaviest = [] if text else self.dataset.heaviest_features("test", row, FEATURES_SHOWN)
        features = [wording.plain(name, 40) for name in heaviest]
        text = wording.plain(text, EXCERPT)
        pieces, words = [Piece(text)] if text else [], {}
        if self.explained:
            pieces, words = self._explained(row, text)
        predictions = [(number, self._predictions(row, number, words.get(number, {}))) for number in runs]
        return Example(row, record, pieces, features, true, more, predictions)

    def _true(self, row, runs):
        true = self.dataset.test.Y.part(row, row + 1).indices
        order = true[np.argsort(-self.counts[true], kind="stable")]
        predicted = {number: set(self.outcomes[number][0][row].tolist()) for number in runs}
        labels = []
        for label in order[:TRUE_SHOWN].tolist():
            finders = [number for number in runs if label in predicted[number]]
            labels.append(TrueLabel(self.label_name(label), self.label_uri(label), int(self.counts[label]), finders))
        return labels, len(true) - len(labels)

    def _explained(self, row, text):
        """The text cut where words speak for labels, and the words of each label of the run that is explained."""
        number, predictor = self.explained
        ids, _, hits, _ = self.outcomes[number]
        explanations = explain_labels(predictor, self.dataset.test.X, row, ids[row][ids[row] >= 0])
        words = {label: words_of(predictor, explanation) for label, explanation in explanations.items()}
        true = set(ids[row][hits[row]].tolist())
        return cut_text(predictor, text, explanations, true), {number: words}

    def _predictions(self, row, number, words):
        *arrays, fitting = self.outcomes[number]
        ids, scores, hits = (array[row] for array in arrays)
        fitting = [None] * len(ids) if fitting is None else fitting[row].tolist()
        labels = []
        for label, score, hit, fits in zip(ids.tolist(), scores, hits, fitting, strict=True):
            if label >= 0:
                name, uri = self.label_name(label), self.label_uri(label)
                up, down = words.get(label, ([], []))
                labels.append(RankedLabel(name, uri, float(score), bool(hit), fits, up, down))
        return labels


def describe_failures(documents, runs, amount, page_folder=None):
    """Failures of the run that is explained, or else of the first; None where nothing was analysed or nothing fails."""
    number, _ = documents.explained or (0, None)
    analysis = runs[number].analysis
    if not (amount and analysis) or not (analysis["wrong"] or analysis["missed"]):
        return None
    wrong, missed, confused = (analysis[name][:amount] for name in ("wrong", "missed", "confused"))
    return {
        "run": runs[number],
        "k": analysis["k"],
        "wrong": documents.describe([each["row"] for each in wrong], [number]),
        "missed": documents.tested("Labels missed most often", MISSED, missed) if missed else None,
        "confused": _confused_table(documents, confused) if confused else None,
        "pages": [] if page_folder is None else list(_pages_of_errors(runs, page_folder)),
    }


def _read_page_of_errors(folder):
    path = folder.path / errors_page.FILE_NAME
    return path if path.exists() else None


def _pages_of_errors(runs, page_folder):
    """Runs whose errors have a page, and links to these."""
    for run in runs:
        if "failures" in run.read:
            yield run, quote(Path(os.path.relpath(run.read["failures"], page_folder)).as_posix())


def describe_trust(documents, runs):
    """Labels of the same run that are found and predicted best and worst; None where none was tested often."""
    number, _ = documents.explained or (0, None)
    analysis = runs[number].analysis
    if not analysis or not analysis["trust"]["best"]:
        return None
    trust = analysis["trust"]
    titles = {"best": "Labels to trust most", "worst": "Labels to trust least"}
    tables = [documents.tested(title, TRUST, trust[side]) for side, title in titles.items() if trust[side]]
    return {"run": runs[number], "k": analysis["k"], "enough": trust["enough"], "tables": tables}


def _right(each):
    return each["found"] / each["predicted"] if each["predicted"] else None


_TESTED, _whole_percent = "test instances", partial(wording.percent, digits=0)
_TRUE = Column("true", itemgetter("true"), wording.count, _TESTED)
_RECALL = Column("found, %", lambda each: each["found"] / each["true"], _whole_percent, _TESTED)
TRUST = (
    _TRUE,
    _RECALL._replace(hint="recall"),
    Column("predicted", itemgetter("predicted"), wording.count, _TESTED),
    Column("right, %", _right, _whole_percent, _TESTED, "precision"),
)
MISSED = (
    _TRUE,
    Column("found", itemgetter("found"), wording.count, _TESTED),
    Column("missed", lambda each: each["true"] - each["found"], wording.count, _TESTED),
    _RECALL,
)


_BY_CHANCE = "expected if wrong predictions were spread at random"


def _confused_table(documents, confused):
    columns = [
        Column("predicted instead", lambda each: documents.label_name(each["predicted"])),
        Column("instances", itemgetter("times"), wording.count),
        Column("by chance", itemgetter("expected"), wording.decimal, hint=_BY_CHANCE),
    ]
    return documents.table("Labels predicted instead of others", "missed label", columns, confused, "true")


TRUST_SECTION = ReportSection("trust", "Best and worst labels", lambda anchor, results: results.trust)
LABELS_SECTION = ReportSection("labels", "Labels and their words", lambda anchor, results: results.labels)
DOCUMENTS_SECTION = ReportSection("examples", "Test documents", lambda anchor, results: results.examples)
FAILURES_SECTION = ReportSection(
    "failures", "Failures worth a look", lambda anchor, results: results.failures, _read_page_of_errors
)
