"""The prepare step: from instances as they come to the dataset file's train and test."""

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import EXCERPT, Split, write_dataset
from ovaflow.data.docstrings import docstrings
from ovaflow.data.labels import NamedLabels
from ovaflow.data.tfidf import Selection, learn


@dataclass(frozen=True)
class Settings:
    """Settings of the prepare step.

    Attributes
    ----------
    tfidf : bool or None
        Weigh by idf; None: texts yes, features no.
    selection : ovaflow.data.tfidf.Selection
        Which tokens of texts become features.
    sublinear : bool
        log(1 + tf) instead of tf, where counts are weighed.
    normalize : bool
        Rows of length 1.
    bias : float
        Value of the bias feature, 0 for none.
    test_fraction : float
        Share of the test set, where the source has none of its own.
    seed : int
        Of that division.
    """

    tfidf: bool | None = None
    selection: Selection = field(default_factory=Selection)
    sublinear: bool = True
    normalize: bool = True
    bias: float = 1.0
    test_fraction: float = 0.2
    seed: int = 0


class Prepared(NamedTuple):
    """All that the dataset file holds; fields as :func:`ovaflow.data.dataset.write_dataset` takes them."""

    train: Split
    test: Split
    label_names: list
    feature_names: list
    parameters: dict
    idf: np.ndarray | None

    def write(self, path):
        """Write the dataset file.

        Parameters
        ----------
        path : path-like
        """
        write_dataset(path, *self)

    def summary(self):
        """The dataset in one line.

        Returns
        -------
        str
        """
        n, m, nnz = self.train.X.n_rows, self.test.X.n_rows, len(self.train.X.data)
        return (
            f"{n:,} training and {m:,} test instances, {self.train.X.n_columns:,} features, "
            f"{self.train.Y.n_columns:,} labels, {nnz:,} nonzeros ({nnz / max(n, 1):.1f} an instance)"
        )


def prepare_docstrings(settings):
    """Prepare the built-in dataset.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    Prepared
    """
    source = docstrings(test_fraction=settings.test_fraction, seed=settings.seed)
    labels = NamedLabels()
    return prepare_texts(source.train, source.test, labels, settings, {"format": "builtin", "counts": source.counts})


def prepare_texts(train, test, labels, settings, source):
    """Prepare instances that come as texts.

    Parameters
    ----------
    train, test : iterable
        Instances with the attributes ``text`` and ``labels``; each is read once.
    labels : NamedLabels or NumberedLabels
        Still empty.
    settings : Settings
    source : dict
        Provenance; ``counts`` are added.

    Returns
    -------
    Prepared

    Raises
    ------
    InputError
        If there are no training instances, or no labels or tokens in them.
    """
    tfidf = settings.tfidf is not False
    weights = {"sublinear": settings.sublinear, "normalize": settings.normalize, "bias": settings.bias}
    learned = learn(_labels_aside(train, labels.add_train), settings.selection, tfidf, **weights)
    excerpts = []
    test_texts = _excerpts_aside(_labels_aside(test, labels.add_test), excerpts)
    test_features = learned.transform.transform(test_texts)
    names, train_labels, test_labels, label_counts = labels.finish()
    splits = Split(learned.X, train_labels), Split(test_features, test_labels, excerpts)
    counts = source.get("counts", {}) | learned.counts | label_counts | _counts(*splits, settings.bias)
    parameters = {
        "format": source["format"],
        "tfidf": tfidf,
        **weights,
        **asdict(settings.selection),
        "token_pattern": learned.transform.token_pattern,
        "normal_form": "NFKC, case-folded",
        "source": source | {"counts": counts},
    }
    idf = learned.transform.idf if tfidf else None
    return Prepared(*splits, names, learned.transform.feature_names, parameters, idf)


def _labels_aside(instances, add):
    for instance in instances:
        add(instance.labels)
        yield instance.text


def _excerpts_aside(texts, excerpts):
    for text in texts:
        excerpts.append(text[:EXCERPT])
        yield text


def _counts(train, test, bias):
    if train.Y.n_columns == 0:
        raise InputError("no training instance has a label")
    counts = {}
    for name, split in (("train", train), ("test", test)):
        counts[f"{name}_instances"] = split.X.n_rows
        counts[f"{name}_without_features"] = _n_rows_of(split.X, 1 if bias else 0)
        counts[f"{name}_without_labels"] = _n_rows_of(split.Y, 0)
    return counts


def _n_rows_of(matrix, entries):
    return int(np.count_nonzero(np.diff(matrix.indptr) == entries))
