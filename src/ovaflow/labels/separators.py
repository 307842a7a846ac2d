"""Whether labels are combinations of others, which another separator would take apart."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice

_STRONG = (";", "|", "\n", "\t")
"""What tables have between labels, and hardly any name has inside."""
_WEAK = (",", "/", "&", "#", ":", " ")
SAMPLED_LABELS = 20_000
"""Different labels that tell whether the separator is right."""
_FEW = 20
"""Fewer different labels say nothing about the separator."""
_RARELY = 0.01
"""Share of instances with several labels, below which the separator seems to take none apart."""
_MOSTLY = 0.8
_OFTEN = 0.2
_CODE = re.compile(r"[A-Z0-9][A-Z0-9._-]{0,11}")


@dataclass(frozen=True)
class SeparatorDoubt:
    """Another separator, the numbers of labels without and with it, and a label that it would take
    apart.
    """

    mark: str
    n_labels: int
    n_parts: int
    n_combined: int
    example: str
    is_sure: bool  # nothing is taken apart now, so that `none` means the same

    @property
    def setting(self):
        return f'label_separator: "{_ESCAPED.get(self.mark, self.mark)}"'

    def __str__(self):
        return (
            f"{self.n_combined:,} of {self.n_labels:,} different labels contain {self.mark!r}, such as "
            f"{self.example[:60]!r}: {self.setting} gives {self.n_parts:,} labels; "
            "label_separator: none says that each cell is one label"
        )


def find_cut_sentence(cells, separator):
    """A cell that a comma cuts, if nearly all that have one go on in lower case as sentences do;
    else None.
    """
    several = [cell for cell in islice(cells, SAMPLED_LABELS) if len(cell) > 1]
    on = [
        cell
        for cell in several
        if cell[0][:1].isupper() and all(part[:1].islower() for part in cell[1:])
    ]
    if separator.strip() != "," or len(on) < max(_FEW, _MOSTLY * len(several)):
        return None
    return ", ".join(on[0])


_ESCAPED = {"\n": "\\n", "\t": "\\t"}


def find_separator_doubt(written, share_with_several, separator, cells=()):
    """The :class:`Doubt` about labels as they are written, and cells of several; None where there
    is none.
    """
    names = [name for name in map(str.strip, islice(written, SAMPLED_LABELS)) if name]
    if len(names) < _FEW:
        return None
    takes_none_apart = share_with_several < _RARELY
    doubts = [
        _doubt(names, mark, takes_none_apart)
        for mark in (*_STRONG, *_WEAK)
        if mark.strip() != separator.strip()
    ]
    # the mark that leaves the fewest labels, the strong ones first
    found = [each for each in doubts if each is not None]
    doubt = min(found, key=lambda each: (not each.is_sure, each.n_parts), default=None)
    if doubt is None or takes_none_apart:
        return doubt
    parts = {part for cell in islice(cells, SAMPLED_LABELS) for part in _parts(cell, doubt.mark)}
    return replace(doubt, n_parts=len(parts))


def _doubt(names, mark, takes_none_apart):
    combined = {name: _parts(name, mark) for name in names if mark in name}
    combined = {name: parts for name, parts in combined.items() if len(parts) > 1}
    if len(combined) < _OFTEN * len(names):
        return None
    alone = {name for name in names if mark not in name}
    uses = Counter(part for parts in combined.values() for part in set(parts))
    different = alone | uses.keys()
    fewer = len(different) <= len(names) / 2
    of_others = sum(all(part in alone for part in parts) for parts in combined.values())
    of_known = sum(
        all(part in alone or uses[part] > 1 for part in parts) for parts in combined.values()
    )
    half = len(combined) >= len(names) / 2
    if mark in _STRONG:
        is_doubtful = half and (fewer or takes_none_apart)
    else:
        codes = all(_CODE.fullmatch(part) for part in uses) and fewer
        is_doubtful = of_others >= _MOSTLY * len(combined) or (half and codes)
        if mark != " ":
            is_doubtful |= (
                half and fewer and takes_none_apart and of_known >= _MOSTLY * len(combined)
            )
    if not is_doubtful:
        return None
    is_sure = half and takes_none_apart and (fewer or mark in _STRONG)
    return SeparatorDoubt(mark, len(names), len(different), len(combined), min(combined), is_sure)


def _parts(name, mark):
    return [part for part in map(str.strip, name.split(mark)) if part]
