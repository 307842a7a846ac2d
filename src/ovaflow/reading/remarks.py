"""Remarks on what was read of files, one line each, with the setting that mends it."""

from collections.abc import Iterator, Mapping
from typing import Any

from ovaflow.reading.sheet_marks import CELL_ERRORS, NO_STORED_VALUE

_COUNTED_REMARKS = {
    "records_without_judgement": "{count:,} records have an empty place of a label: left out",
    "lines_without_a_tab": "{count:,} lines of the corpus have no tab, so no subjects: left out",
    "documents_without_subjects": "{count:,} documents of the corpus have no subjects: left out",
    "headers_left_out": "the first line of a file names the columns: it is no record",
    "lines_with_further_tabs": "{count:,} lines have further tabs: all after the first one is the "
    "text; format: csv reads columns, below a header line",
    "fields_like_records": "{count:,} fields span lines, and all of them look like several "
    "records: quotes: none takes quotes as they are, if they mean nothing in this file",
    "missing_labels": "{count:,} labels are words for an empty cell, such as nan, None, NULL, N/A "
    "or -: left out; missing: [] keeps them",
    "missing_texts": "{count:,} cells of texts hold a word for an empty cell, such as nan, None, "
    "NULL, N/A or -: they count as empty; missing: [] keeps them",
    "records_not_in_utf8": "{count:,} records claim to be UTF-8 but contain other bytes, "
    "which are replaced; export them again",
}
"""Remarks on counts that are not 0, by the name of the count."""


LARGE_SHARE_REPEATED = 0.05
"""Share of texts without ids that occur again with other labels, above which they may be rows of
one record.
"""


def remark_on_reading(counts: Mapping[str, Any]) -> Iterator[str]:
    """Remark on what a :class:`Reading` counted, so that nothing is left out in silence."""
    for name, text in _COUNTED_REMARKS.items():
        if counts.get(name):
            yield text.format(count=counts[name])
    yield from _remark_on_places(counts)
    yield from _remark_on_workbooks(counts)
    yield from _remark_on_headings(counts)
    yield from _remark_on_relabelled(counts)


def _remark_on_places(counts: Mapping[str, Any]) -> Iterator[str]:
    """Remark on empty places of labels where others say no; elsewhere, labels are marked."""
    if counts.get("places_not_judged") and counts.get("places_that_say_no"):
        yield (
            f"{counts['places_not_judged']:,} places of labels in "
            f"{counts['records_not_judged']:,} records are empty, where others say 1 or 0: they "
            "count as 0; not_judged: leave-out leaves out these records"
        )


def _remark_on_workbooks(counts: Mapping[str, Any]) -> Iterator[str]:
    """Remark on what was not read of workbooks."""
    if counts.get("sheets_not_read"):
        yield f"sheets that are not read: {counts['sheets_not_read']}"
    errors = {}
    for name, count in counts.items():
        if name.startswith(CELL_ERRORS):
            errors[name.removeprefix(CELL_ERRORS)] = count
    if errors:
        advice = "correct them in the workbook"
        if NO_STORED_VALUE in errors:
            advice += "; a program that computes formulas stores their values when it saves"
        yield f"cells count as empty that have no value but {list_counts(errors)}: {advice}"
    if counts.get("shown_numbers"):
        yield (
            f"{counts['shown_numbers']:,} numbers are not what their sheets show, such as "
            f"{counts['first_shown_number']}: a sheet that is saved as CSV UTF-8 has what it shows"
        )


def _remark_on_headings(counts: Mapping[str, Any]) -> Iterator[str]:
    """Remark on headings without identifier in a catalogue that has identifiers."""
    without = counts.get("headings_without_identifier", 0)
    headings = counts.get("headings", 0)
    if 0 < without < headings / 2:
        yield (
            f"{without:,} of {headings:,} headings have no identifier ($0): "
            "they are the labels of the same name"
        )


def _remark_on_relabelled(counts: Mapping[str, Any]) -> Iterator[str]:
    """Remark on records that are measured more than once, each with other labels."""
    joins = (
        "occur more than once with different labels, and each record counts by itself; "
        "repeated: join makes one record of each, with all of their labels; "
        "after corrections, repeated: last keeps the last record of each id"
    )
    if counts.get("relabelled_ids"):
        first = counts["first_relabelled_id"]
        yield f"{counts['relabelled_ids']:,} ids, such as {first}, {joins}"
    texts = counts.get("relabelled_texts", 0)
    if texts > LARGE_SHARE_REPEATED * counts.get("records_compared", 0):
        yield f"{texts:,} texts {joins}"


def list_counts(counts: Mapping[str, int]) -> str:
    """List counts with their names."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
