"""Words behind predictions, and the section that shows labels by their strongest words, under one run."""

from typing import NamedTuple

import numpy as np

from ovaflow.model.model_file import method_of
from ovaflow.prediction.explanation import (
    EXPLAINED,
    contributions,
    explains,
    nearest_labels,
    strongest_features,
    words_in_text,
)
from ovaflow.prediction.methods import open_any_model
from ovaflow.prediction.predictor import Predictor
from ovaflow.report import wording
from ovaflow.sparse.csr import rows_of

LEAST_SHARE = 0.08
"""Words that push a label less than this share of the strongest word are not shown."""

LEAST_MARK = 0.2
"""Words of a text that count less than this share of its strongest word are not marked."""

UP, DOWN = 4, 2
"""Words shown of a prediction."""

LABELS = 8
"""Labels shown with their words, spread from the most frequent to the rarest."""

WORDS, NEAREST = 7, 3
"""Words and nearest labels of each."""


class Piece(NamedTuple):
    """A stretch of a text; ``hit`` or ``miss`` is a word that speaks for a true or a wrong prediction."""

    text: str
    kind: str = ""
    strength: float = 0.0  # from 0 to 1, relative to the strongest word of the text


class LabelWords(NamedTuple):
    """A label with its words."""

    name: str
    positives: int  # in training
    words: list  # those with the largest weights
    nearest: list  # labels with similar weights, and the cosine


def first_explained(folders):
    """Number and predictor of the first run whose scores are sums over features, None if there is no such run."""
    for number, folder in enumerate(folders):
        path = folder / "model.h5"
        if method_of(path) in EXPLAINED and explains(model := open_any_model(path)):
            return number, Predictor(model)
    return None


def parts_of(predictor, X, row, labels):
    """What each feature adds to the scores of labels of an instance: values by label and feature."""
    x = rows_of(X, np.array([row]))
    explanations = {int(label): contributions(predictor, x, int(label)) for label in labels}
    return {label: dict(each.up + each.down) for label, each in explanations.items()}


def words_of(predictor, parts):
    """The words that push a label up and down most, from the contributions by feature."""
    least = LEAST_SHARE * max(map(abs, parts.values()), default=0)
    ranked = sorted(parts.items(), key=lambda part: (-abs(part[1]), part[0]))
    sides = [
        [(_word(predictor, feature), part) for feature, part in ranked if sign * part > least][:most]
        for sign, most in ((1, UP), (-1, DOWN))
    ]
    return sides[0], sides[1]


def cut_text(predictor, text, parts, hits):
    """Cut a text where words speak for predicted labels, of which ``hits`` are true."""
    speaks = [_strongest_parts(part for label, part in parts.items() if (label in hits) == true) for true in (0, 1)]
    top = max((value for side in speaks for value in side.values()), default=0)
    places = words_in_text(predictor, text) if predictor.takes_text and top else []
    cut, end = [], 0
    for start, stop, feature in places:
        against, towards = (side.get(feature, 0) / top for side in speaks)
        strength = max(towards, against)
        if strength >= LEAST_MARK and start >= end:
            kind = "hit" if towards >= against else "miss"
            cut += [Piece(text[end:start]), Piece(text[start:stop], kind, strength)]
            end = stop
    return [piece for piece in [*cut, Piece(text[end:])] if piece.text]


def _strongest_parts(parts):
    found = {}
    for part in parts:
        for feature, value in part.items():
            found[feature] = max(found.get(feature, 0), value)
    return found


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
    positives = int(predictor.model.counts[label])
    return LabelWords(name_of(label), positives, strongest_words(predictor, label, WORDS), nearest)


def strongest_words(predictor, label, amount):
    """Words with the largest weights of a label, and these weights."""
    return [(_word(predictor, feature), part) for feature, part in strongest_features(predictor, label, amount).up]


def _word(predictor, feature):
    names = predictor.feature_names
    return wording.plain(names[feature], 40) if names else f"feature {feature}"


def show(anchor, results):
    """Labels with their words."""
    return results.labels
