"""Meanings of labels as records write them: each written label means one label, none or several."""

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ovaflow.features.tokens import Numbering
from ovaflow.labels.lists import LabelLists

if TYPE_CHECKING:
    from ovaflow.labels.matrix import Labels


class Meanings:
    """The meaning of each different written label: columns of a table with a row for each label, in
    the order of their first occurrence.

    A written label is renamed by ``label_map`` and replaced by its successor, the labels above it
    join it, and a label that a choice leaves out is no label. Labels of records are the product
    (records x written) (written x meant).
    """

    def __init__(self, labels: "Labels") -> None:
        self._labels = labels
        self.written = Numbering()
        self._replaced_uris = Numbering()
        self.number_of = self.written.__getitem__
        self._is_renamed: list[bool] = []
        self._replaced = LabelLists(self._replaced_uris.__getitem__)
        self._meant = LabelLists(labels.number_of)
        self._left_out = LabelLists(Numbering().__getitem__)

    def translate(self, written: LabelLists, counts: Counter) -> LabelLists:
        """Return the labels that records mean by the numbers of written ones.

        ``counts`` get the numbers of labels that were renamed, replaced and left out.
        """
        for label in islice(self.written, len(self._is_renamed), None):
            self._look_up(label)
        renamed = np.array(self._is_renamed, bool)[written.numbers]
        if renamed.any():
            counts["labels_renamed"] += int(np.count_nonzero(renamed))
        if self._replaced_uris:
            self._count_replaced(written.translate_by(self._replaced), counts)
        if self._labels.choice is not None:
            left_out = written.translate_by(self._left_out)
            counts["labels_of_instances_left_out"] += len(left_out.numbers)
        return written.translate_by(self._meant)

    def _look_up(self, label: str) -> None:
        """Add a row of the table."""
        labels = self._labels
        self._is_renamed.append(label in labels.new_names)
        name = labels.new_names.get(label, label)
        self._replaced.append([name] if name in labels.replaced else [])
        name = labels.replaced.get(name, name)
        meant = [name] if name else []
        if name and labels.above is not None:
            meant += labels.above(name)
        kept = []
        left_out = []
        for each in meant:
            if labels.choice is None or labels.choice.keeps(each):
                kept.append(each)
            else:
                left_out.append(each)
        self._meant.append(kept)
        self._left_out.append(left_out)

    def _count_replaced(self, replaced: LabelLists, counts: Counter) -> None:
        counts["records_with_replaced_subjects"] += int(np.count_nonzero(replaced.lengths))
        amounts = np.bincount(replaced.numbers, minlength=len(self._replaced_uris)).tolist()
        for uri, amount in zip(self._replaced_uris, amounts, strict=True):
            if amount:
                self._labels.followed[uri] += amount
