"""Summary of how files were read, for people to check."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from ovaflow.reading.cells import LABELS_ARE_ONE_HOT
from ovaflow.reading.enclosures import IN_BRACKETS, IN_QUOTES
from ovaflow.reading.instances import FIELD_SEPARATOR, NO_SEPARATOR, Reading, TextInstance
from ovaflow.reading.preview import Preview
from ovaflow.reading.remarks import list_counts

_MOST_FREQUENT_LABELS = 3
_MOST_COLUMNS = 12
_MOST_FILES = 3
_MOST_CHARACTERS = 100
_MOST_LABELS = 8
_DELIMITERS = {"\t": "a tab", ",": "a comma", ";": "a semicolon", "|": "a bar"}


@dataclass(frozen=True)
class ReadingSummary:
    """Lines for people, by their titles."""

    lines: dict[str, str]

    @classmethod
    def from_preview(cls, preview: Preview, format: str) -> Self:
        """Summarize the first records, and how they were read."""
        lines = {"file": _list_some([str(path) for path in preview.paths], _MOST_FILES)}
        if preview.left_out:
            left_out = [path.name for path in preview.left_out]
            lines["files not read"] = _list_some(left_out, _MOST_FILES)
        lines["format"] = _describe_format(preview.reading, format)
        lines |= _describe_workbook(preview.reading.seen)
        if "columns" in preview.reading.seen:
            lines |= _describe_columns(preview)
        else:
            lines["labels"] = _describe_label_form(preview.reading)
        if preview.instances:
            lines |= _describe_records(preview)
        return cls(lines)

    def with_all_labels(self, counts: Counter[str], n: int, further: dict[str, str]) -> Self:
        """Summarize the labels of all n records, and add further lines about them."""
        if not self.lines:
            return type(self)({})
        return type(self)(self.lines | further | describe_labels(+counts, n, beginning=False))

    def __str__(self) -> str:
        width = max(len(title) for title in self.lines)
        lines = []
        for title, line in self.lines.items():
            lines.append(f"  {title:<{width}}  {_escape_line(line)}")
        return "\n".join(lines)


def _describe_format(reading: Reading, format: str) -> str:
    """Describe the format, the delimiter and the encoding."""
    parts = [format]
    seen = reading.seen
    if "delimiter" in seen:
        parts.append(f"columns divided by {_DELIMITERS[seen['delimiter']]}")
    if "encoding" in seen:
        parts.append("UTF-8" if seen["encoding"] == "utf-8" else seen["encoding"])
    return ", ".join(parts)


def _describe_workbook(seen: dict[str, Any]) -> dict[str, str]:
    """Describe the sheets of a workbook, and the cells whose values are not what it shows."""
    lines = {}
    if "sheet" in seen:
        lines["sheet"] = seen["sheet"]
    if seen.get("sheets_not_read"):
        lines["sheets not read"] = seen["sheets_not_read"]
    if seen.get("cell_errors"):
        lines["empty cells"] = list_counts(seen["cell_errors"])
    if seen.get("shown_numbers"):
        count, first = seen["shown_numbers"]
        lines["numbers"] = f"{count:,} are not what the sheet shows, such as {first}"
    return lines


def _describe_columns(preview: Preview) -> dict[str, str]:
    """Describe the use of a table's columns."""
    reading = preview.reading
    columns = reading.seen["columns"]
    id_column = reading.id_column
    if id_column is None:
        id_column = next(iter({*reading.default_ids} & {*columns}), None)
    used: list[str | None] = [*reading.texts, *reading.labels]
    used += [column.name for column in reading.feature_columns]
    used += [id_column, reading.weight_column]
    others = [repr(name) for name in columns if name not in used]
    lines = {"text": _quote_names(reading.texts)}
    lines |= _describe_feature_columns(
        reading, [instance.feature_values for instance in preview.instances]
    )
    lines["labels"] = f"{_quote_names(reading.labels)}, {_describe_label_form(reading)}"
    lines["ids"] = "none: records are identified by their lines"
    if id_column:
        lines["ids"] = repr(id_column)
    lines["other columns"] = _list_some(others, _MOST_COLUMNS) or "none"
    return lines


def _describe_records(preview: Preview) -> dict[str, str]:
    """Describe the first records: one of them, weights and labels."""
    instances = preview.instances
    first = instances[0]
    for instance in instances:
        if len(instance.text) and instance.labels:
            first = instance
            break
    lines = {"first record": _shorten_text(first)}
    labels = [repr(label) for label in first.labels]
    lines["its labels"] = _list_some(labels, _MOST_LABELS) or "none"
    weight_column = preview.reading.weight_column
    if weight_column:
        weights = [instance.weight for instance in instances]
        description = describe_weights(weight_column, weights)
        lines["weights"] = f"{description} in the first {len(weights):,} records"
    counts: Counter[str] = Counter()
    for instance in instances:
        counts.update(instance.labels)
    return lines | describe_labels(counts, len(instances))


def _shorten_text(instance: TextInstance) -> str:
    """Shorten a text to one line; of a vector, say its length."""
    text = instance.text
    if not isinstance(text, str):
        text = f"a vector of {len(text)} numbers"
    text = " ".join(text.replace(FIELD_SEPARATOR, " ").split())
    if len(text) > _MOST_CHARACTERS:
        return text[:_MOST_CHARACTERS] + "…"
    return text


def _describe_feature_columns(reading: Reading, rows: list[tuple[Any, ...]]) -> dict[str, str]:
    """Describe the columns next to the text by the values of the first records."""
    descriptions = defaultdict(list)
    if rows:
        for column, values in zip(reading.feature_columns, zip(*rows, strict=True), strict=False):
            descriptions[column.kind.plural].append(column.kind.describe(column.name, values))
    lines = {}
    for title, columns in descriptions.items():
        lines[title] = f"{'; '.join(columns)} (the first {len(rows):,} records)"
    return lines


def _escape_line(line: str) -> str:
    """Escape the characters of a line that a terminal would obey."""
    escaped = ""
    for character in line:
        escaped += character if character.isprintable() else ascii(character)[1:-1]
    return escaped


def describe_labels(counts: Counter[str], n: int, *, beginning: bool = True) -> dict[str, str]:
    """Describe the labels of n records by their number, the most frequent and the longest.

    Parameters
    ----------
    counts : Counter
        Number of records of each label.
    n : int
    beginning : bool
        True if the n records are only the first ones.
    """
    place = ""
    if beginning:
        place = f" in the first {n:,} records"
    if not counts:
        return {"different labels": f"none{place}"}
    frequent = []
    for name, count in counts.most_common(_MOST_FREQUENT_LABELS):
        frequent.append(f"{name!r:.80} ({count:,})")
    return {
        "different labels": f"{len(counts):,}{place}, {counts.total() / n:.1f} per record",
        "most frequent": ", ".join(frequent),
        "longest": f"{max(counts, key=len)!r:.120}",
    }


def describe_weights(column: str, weights: Sequence[float]) -> str:
    """Describe the range of the weights of records."""
    return f"from {min(weights):g} to {max(weights):g} in column {column!r}"


def _describe_label_form(reading: Reading) -> str:
    """Describe how labels are written, and which of them are meant."""
    form = _describe_writing(reading)
    if reading.label_threshold is not None:
        form += f"; of labels with values those of at least {reading.label_threshold:g}"
    return form


def _describe_writing(reading: Reading) -> str:
    if "labels" in reading.seen:
        return str(reading.seen["labels"])
    if reading.labels_are == LABELS_ARE_ONE_HOT:
        if len(reading.labels) > 1:
            return "each a label where it says yes"
        return "truth values, by their places"
    if reading.label_key is not None and reading.label_key.isdigit():
        return f"lists, whose place {reading.label_key} has the name"
    if reading.label_key is not None:
        return f"objects, whose key {reading.label_key!r} has the name"
    separator = _DELIMITERS.get(reading.mark, repr(reading.mark))
    if reading.label_enclosure in (IN_BRACKETS, IN_QUOTES):
        return f"in {reading.label_enclosure}, separated by {separator}"
    if "name_with_separator" in reading.seen:
        example = reading.seen["name_with_separator"]
        return f"lists or one label per cell: commas are part of names, such as {example!r:.80}"
    if reading.separator == NO_SEPARATOR:
        return "one label per cell"
    return f"separated by {separator} unless they are lists"


def _quote_names(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _list_some(entries: list[str], most: int) -> str:
    """List the first entries, and the number of the others."""
    listed = ", ".join(entries[:most])
    if len(entries) > most:
        listed += f" and {len(entries) - most:,} more"
    return listed
