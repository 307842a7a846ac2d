"""Labels that are combinations of others, which another separator would take apart."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

_STRONG_MARKS = (";", "|", "\n", "\t")
"""Separators of labels in tables, which hardly any name contains."""
_WEAK_MARKS = (",", "/", "&", "#", ":", " ")
"""Separators of labels that many names contain."""
SAMPLED_LABELS = 20_000
"""Different labels that are examined: enough to see whether the separator is right."""
_FEWEST_LABELS = 20
"""Fewer different labels are no evidence about the separator."""
_RARE_SHARE = 0.01
"""Share of instances with several labels, below which the separator seems to take none apart."""
_MOST_SHARE = 0.8
"""Share of labels from which on they count as nearly all."""
_COMBINED_SHARE = 0.2
"""Share of combined labels below which a mark is taken to be part of names."""
_CODE = re.compile(r"[A-Z0-9][A-Z0-9._-]{0,11}")
"""Labels that are short codes, such as notations."""

_ESCAPED = {"\n": "\\n", "\t": "\\t"}


@dataclass(frozen=True)
class SeparatorDoubt:
    """Another separator that would take labels apart.

    Attributes
    ----------
    mark : str
        The separator.
    n_labels : int
        Number of different labels without it.
    n_parts : int
        Number of different labels with it.
    n_combined : int
        Number of labels that it would take apart.
    example : str
        One of these.
    is_sure : bool
        Whether the current separator takes no label apart, so that `none` means the same.
    """

    mark: str
    n_labels: int
    n_parts: int
    n_combined: int
    example: str
    is_sure: bool

    @property
    def setting(self) -> str:
        """The setting that selects the separator."""
        return f'label_separator: "{_ESCAPED.get(self.mark, self.mark)}"'

    def __str__(self) -> str:
        return (
            f"{self.n_combined:,} of {self.n_labels:,} different labels contain {self.mark!r}, "
            f"such as {self.example[:60]!r}: {self.setting} gives {self.n_parts:,} labels; "
            "label_separator: none says that each cell is one label"
        )


def find_cut_sentence(cells: Iterable[Sequence[str]], separator: str) -> str | None:
    """Find a cell that is a sentence which a comma cuts into labels.

    Parameters
    ----------
    cells : iterable of sequences of str
        Labels of each cell.
    separator : str
        The separator of labels.

    Returns
    -------
    sentence : str or None
        A cell, if nearly all cells of several labels go on in lower case as sentences do.
    """
    several = [cell for cell in islice(cells, SAMPLED_LABELS) if len(cell) > 1]
    sentences = []
    for first, *others in several:
        if first[:1].isupper() and all(part[:1].islower() for part in others):
            sentences.append([first, *others])
    fewest = max(_FEWEST_LABELS, _MOST_SHARE * len(several))
    if separator.strip() != "," or len(sentences) < fewest:
        return None
    return ", ".join(sentences[0])


def find_separator_doubt(
    written: Iterable[str],
    share_with_several: float,
    separator: str,
    cells: Iterable[str] = (),
) -> SeparatorDoubt | None:
    """Find another separator that fits the labels better.

    Parameters
    ----------
    written : iterable of str
        Different labels, as they are written.
    share_with_several : float
        Share of instances with several labels.
    separator : str
        The current separator.
    cells : iterable of str
        Cells with several labels, as they are written.

    Returns
    -------
    doubt : SeparatorDoubt or None
        The separator that leaves the fewest labels, the strong ones first; None where none fits
        better.
    """
    names = []
    for label in islice(written, SAMPLED_LABELS):
        name = label.strip()
        if name:
            names.append(name)
    if len(names) < _FEWEST_LABELS:
        return None
    takes_none_apart = share_with_several < _RARE_SHARE
    doubts = []
    for mark in (*_STRONG_MARKS, *_WEAK_MARKS):
        if mark.strip() != separator.strip():
            doubt = _examine_mark(names, mark, takes_none_apart=takes_none_apart)
            if doubt is not None:
                doubts.append(doubt)
    best = min(doubts, key=lambda doubt: (not doubt.is_sure, doubt.n_parts), default=None)
    if best is None or takes_none_apart:
        return best
    parts: set[str] = set()
    for cell in islice(cells, SAMPLED_LABELS):
        parts.update(_split(cell, best.mark))
    return replace(best, n_parts=len(parts))


def _examine_mark(
    names: Sequence[str], mark: str, *, takes_none_apart: bool
) -> SeparatorDoubt | None:
    """Examine whether a mark separates labels within names."""
    combined = {}
    single = set()
    for name in names:
        if mark in name:
            parts = _split(name, mark)
            if len(parts) > 1:
                combined[name] = parts
        else:
            single.add(name)
    if len(combined) < _COMBINED_SHARE * len(names):
        return None
    uses: Counter[str] = Counter()
    for parts in combined.values():
        uses.update(set(parts))
    n_of_single = 0
    n_of_known = 0
    for parts in combined.values():
        if all(part in single for part in parts):
            n_of_single += 1
        if all(part in single or uses[part] > 1 for part in parts):
            n_of_known += 1
    different = single | uses.keys()
    halves_labels = len(different) <= len(names) / 2
    is_frequent = len(combined) >= len(names) / 2
    nearly_all = _MOST_SHARE * len(combined)
    if mark in _STRONG_MARKS:
        is_doubtful = is_frequent and (halves_labels or takes_none_apart)
    else:
        are_codes = all(_CODE.fullmatch(part) for part in uses) and halves_labels
        is_doubtful = n_of_single >= nearly_all or (is_frequent and are_codes)
        if mark != " " and is_frequent and halves_labels and takes_none_apart:
            is_doubtful = is_doubtful or n_of_known >= nearly_all
    if not is_doubtful:
        return None
    is_sure = is_frequent and takes_none_apart and (halves_labels or mark in _STRONG_MARKS)
    return SeparatorDoubt(
        mark=mark,
        n_labels=len(names),
        n_parts=len(different),
        n_combined=len(combined),
        example=min(combined),
        is_sure=is_sure,
    )


def _split(name: str, mark: str) -> list[str]:
    parts = [part.strip() for part in name.split(mark)]
    return [part for part in parts if part]
