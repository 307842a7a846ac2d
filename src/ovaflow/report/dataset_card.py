"""The dataset card: sizes, the long tail, where the data come from and how features were made."""

from dataclasses import dataclass

import numpy as np

from ovaflow.report import figures, wording
from ovaflow.report.power_law import fit_power_law
from ovaflow.sparse.csr import nonzeros_of_rows

FEW = 5
"""Labels with at most so many training positives are called rare."""


FORMATS = {
    "builtin": "docstrings of the standard library and of the Python packages installed beside ovaflow",
    "xmc-text": "sparse features in the text format of the XMC repository",
    "svmlight": "sparse features in svmlight format",
    "text-tsv": "texts with their labels, tab-separated",
    "jsonl": "texts with their labels, JSON Lines",
    "csv": "texts with their labels, CSV",
    "parquet": "texts with their labels, Parquet",
    "npz": "sparse features and labels in NumPy files",
}
"""What the formats hold, in words."""

_TOLD = ("_instances", "_without_labels", "_without_features")
_GROUPS = ("files", "counts")


@dataclass(frozen=True)
class Card:
    """What a reader should know about a dataset.

    Attributes
    ----------
    name : str
    counts : ndarray of int, shape (l,)
        Training positives of each label.
    facts : list of (str, str, str)
        Title, figure, remark.
    source : list of (str, str)
        Provenance, name and value.
    transform : str
        How features were made, in words.
    """

    name: str
    counts: np.ndarray
    facts: list
    source: list
    transform: str


def show(anchor, section):
    """Figure of the section.

    Parameters
    ----------
    anchor : str
        Of the dataset, for names that are unique on the page.
    section : Section

    Returns
    -------
    dict or None
        None leaves the section out.
    """
    law = fit_power_law(section.card.counts)
    return {"law": law, "rank_frequency": figures.rank_frequency(f"{anchor}.rank", section.card.counts, law)}


def make_card(name, dataset):
    """Read a dataset's card.

    Parameters
    ----------
    name : str
    dataset : Dataset

    Returns
    -------
    Card
    """
    counts = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels)
    parameters = dict(dataset.parameters)
    source = provenance(_told_nowhere_else(parameters.pop("source", {})))
    return Card(name, counts, _facts(dataset, counts), source, transform_words(parameters))


def _facts(dataset, counts):
    train, test, bias = dataset.train, dataset.test, dataset.parameters.get("bias", 0) != 0
    trained, rare = int((counts > 0).sum()), int(((counts > 0) & (counts <= FEW)).sum())
    return [
        ("training instances", wording.count(train.X.n_rows), _gaps(train, bias)),
        ("test instances", wording.count(test.X.n_rows), _gaps(test, bias)),
        ("features", wording.count(dataset.n_features - bias), "and a bias feature" if bias else "no bias feature"),
        ("labels", wording.count(dataset.n_labels), f"{dataset.n_labels - trained:,} without training positives"),
        ("nonzeros per instance", wording.decimal(_mean(train.X) - bias), _storage(dataset)),
        ("labels per instance", wording.decimal(_mean(train.Y)), f"test {wording.decimal(_mean(test.Y))}"),
        ("positives per label", wording.decimal(len(train.Y.indices) / max(trained, 1)), "training mean"),
        (f"labels with ≤ {FEW} positives", f"{wording.percent(rare / max(trained, 1), 1)} %", "of those with any"),
    ]


def _mean(matrix):
    return int(nonzeros_of_rows(matrix).sum()) / max(matrix.n_rows, 1)


def _storage(dataset):
    return "training mean; rows stored in full" if dataset.parameters.get("dense") else "training mean"


def _gaps(split, bias):
    unlabelled = int((np.diff(split.Y.indptr) == 0).sum())
    empty = int((nonzeros_of_rows(split.X) <= bias).sum())
    return f"{unlabelled:,} without labels, {empty:,} without features"


def transform_words(parameters):
    """How features were made, in words.

    Parameters
    ----------
    parameters : dict
        Of the dataset file.

    Returns
    -------
    str
    """
    parts = [_tfidf_words(parameters) if parameters.get("tfidf") else "feature values as given"]
    parts.append("rows scaled to unit length" if parameters.get("normalize") else "rows not scaled")
    bias = parameters.get("bias", 0)
    parts.append(f"bias feature of value {bias:g}" if bias else "no bias feature")
    return "; ".join(parts)


def _tfidf_words(parameters):
    details = []
    if parameters.get("sublinear"):
        details.append("ln(1 + tf)")
    if parameters.get("min_df") is not None:
        details.append(f"terms in at least {_frequency(parameters['min_df'])} the training texts")
    if parameters.get("max_df") not in (None, 1.0):
        details.append(f"in at most {_frequency(parameters['max_df'])} them")
    if parameters.get("max_features"):
        details.append(f"the {parameters['max_features']:,} most frequent")
    return "tf-idf, vocabulary and idf from the training set alone" + (f" ({', '.join(details)})" if details else "")


def _frequency(bound):
    return f"{100 * bound:g} % of" if isinstance(bound, float) else f"{bound:,} of"


def _told_nowhere_else(source):
    """Provenance without the counts that the card's facts hold, and the format in words."""
    if not isinstance(source, dict):
        return source
    counts = source.get("counts") or {}
    shown = {name: value for name, value in counts.items() if not name.endswith(_TOLD)}
    rest = {name: value for name, value in source.items() if name not in ("format", "counts")}
    named = {"format": FORMATS.get(source["format"], source["format"])} if "format" in source else {}
    return named | rest | {"counts": shown}


def provenance(source, prefix=""):
    """Provenance as pairs of name and value, nested entries flattened.

    Parameters
    ----------
    source : object
        What the dataset file's parameters hold under ``source``.
    prefix : str
        Name of the entry so far.

    Returns
    -------
    list of (str, str)
    """
    if isinstance(source, dict) and "sha256" in source:
        return [(prefix or "file", _file_words(source))]
    if isinstance(source, dict):
        return [pair for key, value in source.items() for pair in provenance(value, _joined(prefix, key))]
    if isinstance(source, list) and any(isinstance(value, dict | list) for value in source):
        return [pair for i, value in enumerate(source, 1) for pair in provenance(value, _joined(prefix, i))]
    if isinstance(source, list):
        source = ", ".join(str(value) for value in source)
    words = wording.count(source) if isinstance(source, int) and not isinstance(source, bool) else str(source)
    return [] if source in (None, "") else [(prefix or "source", words)]


def _joined(prefix, key):
    if key in _GROUPS:
        return prefix
    key = str(key).replace("_", " ")
    return f"{prefix} · {key}" if prefix else key


def _file_words(entry):
    name = str(entry.get("name") or entry.get("file") or entry.get("path") or "")
    n_bytes, digest = entry.get("bytes"), str(entry["sha256"])
    parts = [name, wording.size(n_bytes) if n_bytes is not None else "", f"sha256 {digest}" if digest else ""]
    return ", ".join(part for part in parts if part)
