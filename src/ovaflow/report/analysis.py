"""What ``ovaflow evaluate`` wrote of a run beside its metrics: results by training frequency, and failures."""

from dataclasses import dataclass

from ovaflow.console.errors import InputError
from ovaflow.storage.texts import read_json


@dataclass(frozen=True)
class Group:
    """Labels with similar numbers of training positives.

    Attributes
    ----------
    name : str
    range : str
        Numbers of training positives, in words.
    labels : int
    true, predicted, hits : int
        (instance, label) pairs of the test set: true, predicted, both.
    part_of_precision, part_of_psp : float
        What the group's hits add to P@k and to PSP@k.
    """

    name: str
    range: str
    labels: int
    true: int
    predicted: int
    hits: int
    part_of_precision: float
    part_of_psp: float

    @property
    def recall(self):
        """Share of the group's true pairs that were predicted; None without any."""
        return self.hits / self.true if self.true else None

    @property
    def precision(self):
        """Share of the group's predicted pairs that are true; None without any."""
        return self.hits / self.predicted if self.predicted else None


@dataclass(frozen=True)
class Analysis:
    """Where a run is good and where it fails.

    Attributes
    ----------
    k : int
        Of the best k predictions.
    groups, deciles, bins : list of Group
        Head, torso and tail; deciles of the labels by frequency; finer.
    wrong, missed, confused : list of dict
        See :mod:`ovaflow.evaluation.failures`.
    """

    k: int
    groups: list
    deciles: list
    bins: list
    wrong: list
    missed: list
    confused: list


def read_analysis(path, model):
    """Read a run's analysis.

    Parameters
    ----------
    path : pathlib.Path
    model : str
        Checksum of the run's model.

    Returns
    -------
    Analysis or None
        None without the file, or where it is of another model.

    Raises
    ------
    InputError
        If the file holds something else.
    """
    if not path.exists():
        return None
    try:
        found = read_json(path, "analysis")
        groups = [[_group(row) for row in found[name]] for name in ("groups", "deciles", "bins")]
        failures = [[dict(each) for each in found[name]] for name in ("wrong", "missed", "confused")]
        return Analysis(int(found["k"]), *groups, *failures) if found["model"] == model else None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"no analysis of a run ({error})", path=path, remedy="evaluate again") from None


def _group(row):
    return Group(
        str(row.get("name", "")),
        words(row["from"], row["to"]),
        *(int(row[name]) for name in ("labels", "true", "predicted", "hits")),
        *(float(row[name]) for name in ("precision", "psp")),
    )


def words(low, high):
    """A range of counts in words.

    Parameters
    ----------
    low : int
    high : int or None
        None: no upper end.

    Returns
    -------
    str
        Such as ``"1–5"``, ``"1"`` or ``"over 100"``.
    """
    if high is None:
        return f"over {low - 1:,}"
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"
