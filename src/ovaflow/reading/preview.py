"""Preview of text files: decide by their first records how labels are to be read."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.cells import (
    LABELS_ARE_NAMES,
    LABELS_ARE_ONE_HOT,
    NotAListError,
    find_name_keys,
    parse_list,
    parse_meant,
)
from ovaflow.reading.columns import normalize_column_name
from ovaflow.reading.enclosures import AUTO_ENCLOSURE, IN_QUOTES, find_enclosure
from ovaflow.reading.formats import Format
from ovaflow.reading.instances import (
    AUTO_SEPARATOR,
    NO_SEPARATOR,
    Reading,
    RecordCells,
    TextInstance,
    unreadable_cell_error,
)
from ovaflow.reading.numbered_names import explain_numbers, list_flat_spans
from ovaflow.reading.streams import RecordFile

PREVIEWED_RECORDS = 1000
"""Records of the first file that are previewed."""
_PREVIEWED_OF_FURTHER_FILES = 50


@dataclass(frozen=True)
class Preview:
    """The decisions about reading some files, and the first records read so.

    Parameters
    ----------
    reading : Reading
    settings : dict
        Settings that make the same decisions.
    paths : list of Path
    instances : list of TextInstance
        The first records of the first file.
    left_out : list of Path
        Files of patterns and folders that are not read.
    """

    reading: Reading
    settings: dict[str, Any]
    paths: list[Path] = field(default_factory=list)
    instances: list[TextInstance] = field(default_factory=list)
    left_out: list[Path] = field(default_factory=list)


class _Row(NamedTuple):
    """A record before its cells are parsed: the arguments of :meth:`Reading.make_instance`."""

    fields: Sequence[Any]
    cells: RecordCells
    path: Path
    line: int | None
    row: int | None
    location: str | None

    def parse_labels(self, function: Callable[[Any], Any]) -> list:
        """Call a function with each cell of labels; its errors name the record."""
        try:
            return [function(content) for content in self.cells.labels]
        except ValueError as error:
            raise unreadable_cell_error(error, self.path, self.line, self.row) from None

    def make_instance(self, reading: Reading) -> TextInstance:
        return reading.make_instance(self.fields, self.path, self.line, self.row, self.location)


class _RowReading(Reading):
    """A reading that collects rows instead of instances."""

    def make_instance(  # type: ignore[override]
        self,
        fields: Sequence[Any],
        path: Path,
        line: int | None = None,
        row: int | None = None,
        location: str | None = None,
    ) -> _Row:
        return _Row(fields, self.divide_fields(fields), path, line, row, location)


def preview_files(paths: Sequence[StrPath], kind: Format, reading: Reading) -> Preview:
    """Preview the beginnings of some files, all of which must be readable.

    Parameters
    ----------
    paths : sequence of paths
    kind : Format
        The format of all files.
    reading : Reading
        The decisions of the settings.
    """
    if paths and kind.has_columns and max(len(reading.texts), len(reading.labels)) > 1:
        reading = _join_names_with_commas(paths[0], kind, reading)
    rows, n_first, seen = _read_rows(paths, kind, reading)
    if not reading.vectors:
        _refuse_vectors(rows, reading)
    decided = replace(reading, seen=seen)
    if kind.has_separator and reading.label_enclosure == AUTO_ENCLOSURE:
        decided = _choose_enclosure(rows, decided)
    cells_by_row = [row.parse_labels(decided.parse_cell) for row in rows]
    if reading.label_key is None:
        if reading.labels_are != LABELS_ARE_NAMES:
            _refuse_flat_spans(rows, cells_by_row)
        decided = replace(decided, label_key=_find_name_key(rows, cells_by_row))
    if reading.labels_are == "auto" and _is_one_hot(decided, rows, cells_by_row):
        decided = replace(decided, labels_are=LABELS_ARE_ONE_HOT)
    if decided.labels_are != LABELS_ARE_ONE_HOT:
        decided = replace(decided, whole_numbers=_has_whole_numbers(rows, decided))
    if kind.has_separator and decided.separator == AUTO_SEPARATOR:
        decided = replace(decided, separator=_choose_separator(rows, decided))
    settings = {}
    for field_name, setting in _DECIDED_SETTINGS.items():
        value = getattr(decided, field_name)
        if value != getattr(reading, field_name):
            settings[setting] = value
    if not kind.has_columns:
        for _, rows_of_file in groupby(rows, lambda row: row.path):
            _require_order(list(rows_of_file))
    instances = [row.make_instance(decided) for row in rows[:n_first]]
    return Preview(decided, settings, [Path(path) for path in paths], instances)


_DECIDED_SETTINGS = {
    "separator": "label_separator",
    "label_enclosure": "label_enclosure",
    "label_key": "label_key",
    "labels_are": "labels_are",
}
"""Settings that a preview decides, by the fields of a reading."""


def _read_rows(
    paths: Sequence[StrPath], kind: Format, reading: Reading
) -> tuple[list[_Row], int, dict[str, Any]]:
    """Read the first rows of some files.

    Returns
    -------
    rows : list of _Row
    n_first : int
        Number of rows of the first file that has any.
    seen : dict
        What the reader found in the first file.
    """
    row_reading = _RowReading(
        **{each.name: getattr(reading, each.name) for each in fields(reading)}
    )
    rows: list[_Row] = []
    n_first = 0
    seen: dict[str, Any] = {}
    for path in paths:
        n_rows = _PREVIEWED_OF_FURTHER_FILES if n_first else PREVIEWED_RECORDS
        rows += islice(kind.read(RecordFile(path, reading.encoding), row_reading), n_rows)
        if not n_first:
            n_first = len(rows)
        if not seen:
            seen = dict(row_reading.seen)
    return rows, n_first, seen


def add_weights(preview: Preview, kind: Format, column: str) -> Preview:
    """Preview the same records with their weights.

    Only the first file, one for training, must have a column of weights.
    """
    reading = replace(preview.reading, weight_column=column)
    file = RecordFile(preview.paths[0], reading.encoding)
    instances = list(islice(kind.read(file, reading), PREVIEWED_RECORDS))
    return replace(preview, reading=reading, instances=instances)


def _refuse_vectors(rows: list[_Row], reading: Reading) -> None:
    """Refuse columns of texts that hold lists of numbers."""
    for row in rows:
        for name, content in zip(reading.texts, row.cells.texts, strict=True):
            if _is_vector(content):
                raise InputError(
                    f"the column {name!r} holds vectors, not texts",
                    path=row.path,
                    line=row.line,
                    remedy=f"set vector_column: {name}",
                )


def _is_vector(content: Any) -> bool:
    if not isinstance(content, list) or len(content) < 2:
        return False
    return all(isinstance(each, float) for each in content)


def _join_names_with_commas(path: StrPath, kind: Format, reading: Reading) -> Reading:
    """Join names of columns that were divided at commas of their own, as the header has them."""
    header_reading = replace(
        reading,
        texts=[],
        labels=[],
        feature_columns=(),
        default_ids=(),
        id_column=None,
        group_column=None,
        time_column=None,
    )
    next(kind.read(RecordFile(path, reading.encoding), header_reading), None)
    columns = {}
    for name in header_reading.seen.get("columns", ()):
        columns[normalize_column_name(name)] = name
    return replace(
        reading,
        texts=_join_neighbours(reading.texts, columns),
        labels=_join_neighbours(reading.labels, columns),
    )


def _join_neighbours(names: list[str], columns: dict[str, str]) -> list[str]:
    """Join neighbouring names that are a column only together.

    Parameters
    ----------
    names : list of str
    columns : dict
        Names in the header by their normalized forms.
    """
    joined_names = []
    while names:
        n_joined = 1
        # a name alone is tried first, then the longest
        for n in (1, *range(len(names), 1, -1)):
            if normalize_column_name(",".join(names[:n])) in columns:
                n_joined = n
                break
        name = names[0]
        if n_joined > 1:
            name = columns[normalize_column_name(",".join(names[:n_joined]))]
        joined_names.append(name)
        names = names[n_joined:]
    return joined_names


def _refuse_flat_spans(rows: list[_Row], cells_by_row: list[list]) -> None:
    """Refuse labels of which most cells are a start, an end and a name."""
    n_cells = 0
    found = []
    for row, cells in zip(rows, cells_by_row, strict=True):
        for cell in cells:
            if cell:
                n_cells += 1
            spans = list_flat_spans(cell)
            if spans:
                found.append((row, spans[0]))
    if len(found) > n_cells / 2:
        row, span = found[0]
        message, remedy = explain_numbers(span)
        raise InputError(message, path=row.path, line=row.line, remedy=remedy)


def _find_name_key(rows: list[_Row], cells_by_row: list[list]) -> str | None:
    """Find the key of the name in labels that are objects; None where they are not."""
    keys = find_name_keys(list(chain.from_iterable(cells_by_row)))
    if keys is None:
        return None
    if len(keys) == 1:
        return keys[0]
    if keys:
        options = ", ".join(repr(key) for key in keys)
        remedy = f"set label_key to the key that has the name, one of {options}"
    else:
        remedy = (
            "set label_key to the key of the name; "
            "if none has it, write the labels as a list of names"
        )
    first = next(cells for cells in cells_by_row if any(cells))
    message = f"labels are objects, such as {first[0]!r:.100}"
    raise InputError(message, path=rows[0].path, line=rows[0].line, remedy=remedy)


def _choose_enclosure(rows: list[_Row], reading: Reading) -> Reading:
    """Choose what encloses labels; there, commas separate if the given separator never occurs."""
    cells = _list_plain_cells(rows, reading)
    mark = reading.mark
    if not any(mark in cell for cell in cells):
        mark = _COMMA
    enclosure = find_enclosure(cells, mark)
    # without a separator, a text in quotes is one name
    if enclosure is None or (enclosure == IN_QUOTES and reading.separator == NO_SEPARATOR):
        return reading
    separator = reading.separator if mark == reading.mark else mark
    return replace(reading, label_enclosure=enclosure, separator=separator)


def _list_plain_cells(rows: list[_Row], reading: Reading) -> list[str]:
    """List the cells of labels that are neither empty nor lists as programs write them."""
    cells = []
    for row in rows:
        for content in row.cells.labels:
            if isinstance(content, str):
                cell = content.strip()
                if cell and cell not in reading.missing and not _is_list(cell, reading.mark):
                    cells.append(cell)
    return cells


def _is_list(cell: str, mark: str) -> bool:
    """Tell whether a cell is a list as programs write them; braces are, unless the mark differs."""
    if mark != _COMMA and mark in cell and cell[0] == "{" and not _QUOTES.intersection(cell):
        return False
    try:
        return parse_list(cell) is not None
    except NotAListError:
        return False
    except ValueError:
        return True


_QUOTES = frozenset("\"'")


def _choose_separator(rows: list[_Row], reading: Reading) -> str:
    """Choose a comma as separator, or none where names of lists contain commas.

    A comma still separates if it does so in a column whose lists have no name with a comma.
    """
    if reading.labels_are == LABELS_ARE_ONE_HOT:
        return _COMMA
    names_by_row = [row.parse_labels(reading.list_names) for row in rows]
    example = None
    for column in range(len(reading.labels)):
        name = None
        is_cut = False
        for row, names_by_column in zip(rows, names_by_row, strict=True):
            names = names_by_column[column]
            if names is None:
                is_cut = is_cut or _COMMA in (row.cells.labels[column] or "")
            elif name is None:
                name = next((each for each in names if _COMMA in each), None)
        if name is None and is_cut:
            return _COMMA
        example = example or name
    if example is None:
        return _COMMA
    reading.seen["name_with_separator"] = example
    return NO_SEPARATOR


_COMMA = ","


def _is_one_hot(reading: Reading, rows: list[_Row], cells_by_row: list[list]) -> bool:
    """Tell whether labels are truth values.

    They are in several columns, or in lists of one length in which ids would repeat.
    """
    if len(reading.labels) > 1:
        truths = []
        for row in rows:
            truths += [parse_meant(cell, reading.label_threshold) for cell in row.cells.labels]
        if None not in truths:
            return any(truths)
        _require_names(rows)
    lists = []
    for cells in cells_by_row:
        lists += [content for content in cells if isinstance(content, list) and content]
    if len({len(labels) for labels in lists}) != 1:
        return False
    flags = list(chain.from_iterable(lists))
    if not all(_is_flag(flag, reading.label_threshold) for flag in flags):
        return False
    return any(_repeats_a_truth(labels, reading.label_threshold) for labels in lists)


def _is_flag(label: Any, threshold: float | None) -> bool:
    return label is None or (label != "" and parse_meant(label, threshold) is not None)


def _repeats_a_truth(labels: list, threshold: float | None) -> bool:
    truths = [parse_meant(label, threshold) for label in labels if label is not None]
    return len(set(truths)) < len(truths)


def _require_names(rows: list[_Row]) -> None:
    """Refuse columns of votes, of weights, or of other words for yes and no.

    Their values occur in several columns of a record.
    """
    all_values = []
    weights = []
    n_with_several = 0
    n_repeating = 0
    for row in rows:
        values = [str(each) for each in row.cells.labels if each not in (None, "")]
        all_values += values
        weights += [value for value in values if _WEIGHT.fullmatch(value)]
        if len(values) > 1:
            n_with_several += 1
        if len(set(values)) < len(values):
            n_repeating += 1
    if n_repeating > n_with_several / 2 or len(weights) > len(rows) / 2:
        shown = list(dict.fromkeys(weights + all_values))[:_SHOWN_VALUES]
        remedy = "write 1 where a column's label is meant, else 0; "
        if None not in [parse_meant(value, 0.0) for value in all_values]:
            remedy += "or set label_threshold to the least value of labels that are meant; "
        remedy += f"or set labels_are: {LABELS_ARE_NAMES} if the values are labels"
        raise InputError(
            f"columns of labels hold the same values, such as {', '.join(shown):.60}, "
            "which are neither yes nor no",
            path=rows[0].path,
            line=rows[0].line,
            remedy=remedy,
        )


_WEIGHT = re.compile(r"-\d.*|\d*\.\d*[1-9]\d*(e-?\d+)?")
_SHOWN_VALUES = 4
_DECIMAL = re.compile(r"-?\d+\.(\d+)")


def _has_whole_numbers(rows: Iterable[_Row], reading: Reading) -> bool:
    """Tell whether all decimals among labels are whole: 3.0 for 3, as in tables with gaps."""
    fractions = set()
    for row in rows:
        for names in row.parse_labels(lambda content: list(reading.split_labels(content))):
            for name in names:
                decimal = _DECIMAL.fullmatch(name.strip())
                if decimal:
                    fractions.add(decimal[1].strip("0"))
    return fractions == {""}


def _require_order(rows: list[_Row]) -> None:
    """Refuse lines that hold something other than labels, a tab and a text."""
    rows = [row for row in rows if isinstance(row.cells.labels[0], str)]
    if len(rows) < _FEWEST_LINES:
        return
    texts = [row.cells.texts[0] for row in rows]
    labels = [row.cells.labels[0] for row in rows]
    most = _MOST_LINES * len(rows)
    if len(set(labels)) <= most:
        return
    have_more_fields = ["\t" in text for text in texts]
    if _mean_words(labels) > _LONGER_FIELD * max(_mean_words(texts), 1):
        reason = "the first field looks like the text"
        remedy = (
            "exchange the fields, or read it with format: csv, below a header line (text, labels)"
        )
        if all(text.startswith("<http") for text in texts):
            remedy = "set format: annif, whose lines are a text, a tab and URIs"
        elif any(have_more_fields):
            remedy = "read it with format: csv, below a header line with a name for each field"
    elif all(have_more_fields) and _are_ids(labels, texts, most):
        reason = "there are more fields, and the first looks like an id"
        remedy = (
            "remove it (cut -f 2- old.tsv > new.tsv), "
            "or read it with format: csv, below a header line with a name for each field"
        )
    else:
        return
    message = f"expected labels, a tab and the text; {reason}: {labels[0]:.60}"
    raise InputError(message, path=rows[0].path, line=rows[0].line, remedy=remedy)


def _mean_words(texts: list[str]) -> float:
    return sum(len(text.split()) for text in texts) / len(texts)


def _are_ids(first_fields: list[str], rests: list[str], most: float) -> bool:
    """Tell whether the first fields of lines are ids, and the second the labels."""
    second_fields = {rest.partition("\t")[0] for rest in rests}
    return len(second_fields) < most or all(_ID.fullmatch(each) for each in first_fields)


_ID = re.compile(r"[\w.:/-]+")
_FEWEST_LINES = 20
"""Lines below which their order is not judged."""
_LONGER_FIELD = 2
"""Factor by which a text has more words than labels."""
_MOST_LINES = 0.9
"""Share of the lines that must have different first fields for these not to be labels."""
