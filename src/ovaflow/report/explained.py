"""Words behind predictions, and labels told by their strongest words, under one run."""

from dataclasses import dataclass

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
"""Words of a text that speak less than this share of its strongest word are not marked."""

UP, DOWN = 4, 2
"""Words shown of a prediction."""

LABELS = 8
"""Labels told by their words, spread from the most frequent to the rarest."""

WORDS, NEAREST = 7, 3
"""Words and nearest labels of each."""


@dataclass(frozen=True)
class Piece:
    """A stretch of a text.

    Attributes
    ----------
    text : str
    kind : str
        ``"hit"`` or ``"miss"`` for a word that speaks for a true or a wrong prediction; otherwise empty.
    strength : float
        From 0 to 1: how much, beside the strongest word of the text.
    """

    text: str
    kind: str = ""
    strength: float = 0.0


@dataclass(frozen=True)
class LabelWords:
    """A label told by its words.

    Attributes
    ----------
    name : str
    positives : int
        Training positives.
    words : list of (str, float)
        Those with the largest weights.
    nearest : list of (str, float)
        Labels with similar weights, and the cosine.
    """

    name: str
    positives: int
    words: list
    nearest: list


def first_explained(folders):
    """The first run whose scores are sums over features.

    Parameters
    ----------
    folders : sequence of pathlib.Path
        Of the runs.

    Returns
    -------
    (int, Predictor) or None
        Its number; None if there is no such run.
    """
    for number, folder in enumerate(folders):
        path = folder / "model.h5"
        if method_of(path) in EXPLAINED and explains(model := open_any_model(path)):
            return number, Predictor(model)
    return None


def parts_of(predictor, X, row, labels):
    """What features add to the scores of an instance's predicted labels.

    Parameters
    ----------
    predictor : Predictor
    X : CSR, shape (n, d)
    row : int
    labels : iterable of int

    Returns
    -------
    dict of int to (dict of int to float)
        Contribution of each feature, by label and feature.
    """
    x = rows_of(X, np.array([row]))
    found = {}
    for label in labels:
        explanation = contributions(predictor, x, int(label))
        found[int(label)] = dict(explanation.up + explanation.down)
    return found


def words_of(predictor, parts):
    """The words that push a label most.

    Parameters
    ----------
    predictor : Predictor
    parts : dict of int to float
        Contributions by feature.

    Returns
    -------
    up, down : list of (str, float)
    """
    least = LEAST_SHARE * max(map(abs, parts.values()), default=0)
    ranked = sorted(parts.items(), key=lambda part: (-abs(part[1]), part[0]))
    sides = [
        [(_word(predictor, feature), part) for feature, part in ranked if sign * part > least][:most]
        for sign, most in ((1, UP), (-1, DOWN))
    ]
    return sides[0], sides[1]


def cut_text(predictor, text, parts, hits):
    """Cut a text where words speak for predicted labels.

    Parameters
    ----------
    predictor : Predictor
    text : str
    parts : dict
        See :func:`parts_of`.
    hits : set of int
        The labels that are true.

    Returns
    -------
    list of Piece
        One after the other they are the text.
    """
    speaks = [_strongest_parts(part for label, part in parts.items() if (label in hits) == true) for true in (0, 1)]
    top = max((value for side in speaks for value in side.values()), default=0)
    places = words_in_text(predictor, text) if predictor.takes_text and top else []
    cut, end = [], 0
    for start, stop, feature in places:
        against, towards = (side.get(feature, 0) / top for side in speaks)
        strength = max(towards, against)
        if strength < LEAST_MARK or start < end:
            continue
        cut += [Piece(text[end:start]), Piece(text[start:stop], "hit" if towards >= against else "miss", strength)]
        end = stop
    return [piece for piece in [*cut, Piece(text[end:])] if piece.text]


def _strongest_parts(parts):
    found = {}
    for part in parts:
        for feature, value in part.items():
            found[feature] = max(found.get(feature, 0), value)
    return found


def sample_labels(predictor, name_of, amount=LABELS):
    """Tell some labels by their strongest words, from head to tail.

    Parameters
    ----------
    predictor : Predictor
    name_of : callable
        Name of a label as the page shows it.
    amount : int

    Returns
    -------
    list of LabelWords
        By falling number of training positives, at evenly spaced logarithms of the rank.
    """
    counts = np.where(predictor.model.trained, predictor.model.counts, 0)
    ranked = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    if not len(ranked):
        return []
    ranks = np.unique(np.geomspace(1, len(ranked), amount).astype(np.int64)) - 1
    return [_label_words(predictor, int(label), name_of) for label in ranked[ranks]]


def _label_words(predictor, label, name_of):
    strongest = strongest_features(predictor, label, WORDS)
    words = named(predictor, strongest.up)
    nearest = [(name_of(other), cosine) for other, cosine in nearest_labels(predictor, label, NEAREST)]
    return LabelWords(name_of(label), int(predictor.model.counts[label]), words, nearest)


def named(predictor, parts):
    """Names of features.

    Parameters
    ----------
    predictor : Predictor
    parts : iterable of (int, float)
        Features and what they add.

    Returns
    -------
    list of (str, float)
    """
    return [(_word(predictor, feature), part) for feature, part in parts]


def _word(predictor, feature):
    names = predictor.feature_names
    return wording.plain(names[feature], 40) if names else f"feature {feature}"
