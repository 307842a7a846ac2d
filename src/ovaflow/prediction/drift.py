"""How much the records that a model is asked about differ from those it was trained on.

Three figures tell: the share of words that the model has no feature for, the mean score of the
first label, and how often each label comes first. What is normal is measured on the test set.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from ovaflow.model.top_k import NO_LABEL

FREQUENT = 50
"""Labels of the most training records; all others count as one, so that chance moves little."""

ENOUGH = 100
"""Records below which nothing is said to be far off."""

FAR = {"unknown_words": 0.05, "first_score": 0.1, "first_labels": 0.15}
"""What is far off: samples of one test set never are, other texts are; see docs/results.md."""

UNLIKE = {
    "unknown_words": "many words are unknown",
    "first_score": "first labels are less sure",
    "first_labels": "other labels come first",
}
"""What is far off, in words."""

_LISTED = 10  # unknown words that are named
_CHANGED = 5  # labels that are named


class Words(NamedTuple):
    """Words of some texts, without stop words: how many, and those that have no feature."""

    amount: int
    unknown: Counter

    @classmethod
    def sum(cls, parts):
        amount, unknown = 0, Counter()
        for part in parts:
            amount += part.amount
            unknown.update(part.unknown)
        return cls(amount, unknown)


def words_of(tokens, terms):
    """The :class:`Words` of tokenized texts, whose words have these terms."""
    is_unknown = np.diff(terms.starts)[tokens.ids] == 0
    times = np.bincount(tokens.ids[is_unknown], minlength=len(tokens.words))
    unknown = {word: n for word, n in zip(tokens.words, times.tolist(), strict=True) if n}
    return Words(len(tokens.ids), Counter(unknown))


class FirstLabels(NamedTuple):
    """The first labels of some records."""

    total: float  # sum of their scores
    counts: np.ndarray  # int64; records of each frequent label, and of all others together

    @property
    def records(self):
        return int(self.counts.sum())

    @property
    def mean(self):
        return self.total / self.records

    @property
    def shares(self):
        return self.counts / self.records


def frequent_labels(model):
    """Labels of the most training records."""
    return np.argsort(-model.counts, kind="stable")[:FREQUENT]


def first_labels_of(frequent, ids, scores):
    """The :class:`FirstLabels` of ids and scores (n, k), given the frequent labels."""
    first = ids[:, 0]
    answered = first != NO_LABEL
    is_first = first[answered] == frequent[:, None]
    counts = is_first.sum(axis=1)
    others = int(answered.sum() - counts.sum())
    return FirstLabels(float(scores[answered, 0].sum()), np.append(counts, others))


def distance(ours, theirs):
    """Total variation: the share of records whose first label would have to be another one."""
    return float(np.abs(ours.shares - theirs.shares).sum() / 2)


def distance_by_chance(ours, theirs):
    """The distance that two samples of the same records have on average.

    For large n and m, p_n - p_m is normal with variance p (1 - p) (1 / n + 1 / m).
    """
    p = (ours.counts + theirs.counts) / (ours.records + theirs.records)
    deviations = np.sqrt(p * (1 - p) * (1 / ours.records + 1 / theirs.records))
    return float(np.sqrt(2 / np.pi) * deviations.sum() / 2)


class Reference(NamedTuple):
    """What is normal for a model: words and first labels of texts that it has not seen."""

    words: int
    unknown_words: int
    usual: frozenset = frozenset()  # the most frequent of the unknown words
    first: FirstLabels | None = None
    languages: tuple | None = None  # of training, the most frequent first; None where they are not known

    @property
    def unknown_share(self):
        return self.unknown_words / self.words if self.words else None


def drift_of(model, words, first, reference):
    """Figures of some records beside those of the reference, None without one, as JSON has them."""
    drift = {"records": first.records}
    normal = reference or Reference(0, 0)
    if words.amount:
        drift["unknown_words"] = {
            "share": words.unknown.total() / words.amount,
            "reference": normal.unknown_share,
            "most_frequent": _most_frequent(words.unknown, normal.usual),
        }
    if not first.records:
        return drift | {"far_off": []}
    expected = normal.first and normal.first.mean
    drift["first_score"] = {"mean": first.mean, "reference": expected}
    if normal.first is not None:
        drift["first_labels"] = {
            "distance": distance(first, normal.first),
            "by_chance": distance_by_chance(first, normal.first),
            "changed": list(_changed(model, first.shares, normal.first.shares)),
        }
    return drift | {"far_off": _far_off(drift)}


def _most_frequent(unknown, usual):
    """The most frequent unknown words, without those that the test set has, too."""
    new = Counter({word: times for word, times in unknown.items() if word not in usual})
    return [word for word, _ in new.most_common(_LISTED)]


def _changed(model, ours, theirs):
    """The labels whose share changed most."""
    names = [model.label_names[label] for label in frequent_labels(model)]
    for place in np.argsort(-np.abs(ours - theirs)[:-1], kind="stable")[:_CHANGED]:
        share, reference = float(ours[place]), float(theirs[place])
        yield {"label": names[place], "share": share, "reference": reference}


def _far_off(drift):
    """Names of the figures that are far from their reference."""
    if drift["records"] < ENOUGH:
        return []
    words, score, labels = (drift.get(name, {}).get for name in FAR)
    figures = {
        "unknown_words": (words("share"), words("reference")),
        "first_score": (score("reference"), score("mean")),
        "first_labels": (labels("distance"), labels("by_chance")),
    }
    return [name for name, (value, normal) in figures.items() if exceeds(value, normal, name)]


def remark_on_words(texts, words, unknown_words, reference):
    """A remark on texts of which far more words are unknown than is normal; empty for others."""
    normal = reference and reference.unknown_share
    if texts < ENOUGH or not words:
        return ""
    share = unknown_words / words
    if not exceeds(share, normal, "unknown_words"):
        return ""
    usual = f"{100 * normal:.1f} % are normal"
    return f"the model does not know {100 * share:.1f} % of the words; {usual}"


def exceeds(value, normal, name):
    """Whether a figure is far above another; never where one of them is not known."""
    return None not in (value, normal) and value - normal > FAR[name]
