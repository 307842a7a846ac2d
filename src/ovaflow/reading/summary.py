"""What was read of files, at a glance: so that a person sees what nobody thought of."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from ovaflow.reading.cells import LABELS_ARE_ONE_HOT
from ovaflow.reading.instances import FIELD_SEPARATOR, NO_SEPARATOR, Reading
from ovaflow.reading.preview import Preview

_MOST_FREQUENT = 3
_COLUMNS = 12
_FILES = 3
_TEXT = 100
_LABELS = 8
_DELIMITERS = {"\t": "a tab", ",": "a comma", ";": "a semicolon", "|": "a bar"}


@dataclass(frozen=True)
class ReadingSummary:
    """Lines for a person, by their titles."""

    lines: dict[str, str]

    @classmethod
    def at(cls, look: Preview, format: str) -> Self:
        """What the first records look like, and how they were read."""
        reading = look.reading
        seen = look.reading.seen
        how = [format]
        if "delimiter" in seen:
            how.append(f"columns divided by {_DELIMITERS[seen['delimiter']]}")
        if "encoding" in seen:
            how.append("UTF-8" if seen["encoding"] == "utf-8" else seen["encoding"])
        lines = {"file": _some(list(map(str, look.paths)), _FILES), "format": ", ".join(how)}
        if "columns" in seen:
            id_column = reading.id_column or next(
                iter({*reading.default_ids} & {*seen["columns"]}), None
            )
            beside = [column.name for column in reading.beside]
            used = *reading.texts, *reading.labels, *beside, id_column, reading.weight_column
            others = [name for name in seen["columns"] if name not in used]
            lines["text"] = _quoted(reading.texts)
            lines |= _beside(reading, [each.beside for each in look.instances])
            lines["labels"] = f"{_quoted(reading.labels)}, {_how_labels(look)}"
            lines["ids"] = (
                repr(id_column) if id_column else "none: records are known by their lines"
            )
            lines["other columns"] = _some(list(map(repr, others)), _COLUMNS) if others else "none"
        else:
            lines["labels"] = _how_labels(look)
        if look.instances:
            first = next(
                (each for each in look.instances if len(each.text) and each.labels),
                look.instances[0],
            )
            text = (
                first.text
                if isinstance(first.text, str)
                else f"a vector of {len(first.text)} numbers"
            )
            text = " ".join(text.replace(FIELD_SEPARATOR, " ").split())
            lines["first record"] = f"{text:.{_TEXT}}{'…' * (len(text) > _TEXT)}"
            lines["its labels"] = _some(list(map(repr, first.labels)), _LABELS) or "none"
            if reading.weight_column:
                weights = [each.weight for each in look.instances]
                said = describe_weights(reading.weight_column, weights)
                lines["weights"] = f"{said} in the first {len(weights):,} records"
            lines |= describe_labels(
                Counter(label for each in look.instances for label in each.labels),
                len(look.instances),
            )
        return cls(lines)

    def of_all(self, counts: Counter[str], n: int, further: dict[str, str]) -> Self:
        """The same with the labels of all records, and with further lines about them."""
        return ReadingSummary(
            self.lines | further | describe_labels(+counts, n, beginning=False)
            if self.lines
            else {}
        )

    def __str__(self) -> str:
        width = max(map(len, self.lines))
        return "\n".join(
            f"  {title:<{width}}  {_printable(line)}" for title, line in self.lines.items()
        )


def _beside(reading: Reading, rows: list[tuple[Any, ...]]) -> dict[str, str]:
    """What the first records have in the columns beside the text."""
    lines = defaultdict(list)
    for column, values in zip(reading.beside, zip(*rows, strict=True), strict=False):
        lines[column.kind.plural].append(column.kind.in_words(column.name, values))
    return {
        title: f"{'; '.join(columns)} (the first {len(rows):,} records)"
        for title, columns in lines.items()
    }


def _printable(line: str) -> str:
    """A line without characters that a terminal would obey."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)


def describe_labels(counts: Counter[str], n: int, beginning: bool = True) -> dict[str, str]:
    """How many labels there are, the most frequent and the longest."""
    if not counts:
        return {"different labels": f"none in the first {n:,} records" if beginning else "none"}
    place = f" in the first {n:,} records" if beginning else ""
    frequent = ", ".join(
        f"{name!r:.80} ({count:,})" for name, count in counts.most_common(_MOST_FREQUENT)
    )
    return {
        "different labels": f"{len(counts):,}{place}, {counts.total() / n:.1f} per record",
        "most frequent": frequent,
        "longest": f"{max(counts, key=len)!r:.120}",
    }


def describe_weights(column: str, weights: Sequence[float]) -> str:
    """The range of the weights of records."""
    return f"from {min(weights):g} to {max(weights):g} in column {column!r}"


def _how_labels(look: Preview) -> str:
    reading = look.reading
    if "labels" in reading.seen:
        return str(reading.seen["labels"])
    if reading.labels_are == LABELS_ARE_ONE_HOT:
        return (
            "each a label where it says yes"
            if len(reading.labels) > 1
            else "truth values, by their places"
        )
    if reading.label_key is not None:
        return f"objects, whose key {reading.label_key!r} has the name"
    if reading.separator == NO_SEPARATOR:
        return "one label a cell"
    return f"separated by {_DELIMITERS.get(reading.separator, repr(reading.separator))} unless they are lists"


def _quoted(names: list[str]) -> str:
    return ", ".join(map(repr, names))


def _some(entries: list[Any], most: int) -> str:
    rest = f" and {len(entries) - most:,} more" if len(entries) > most else ""
    return ", ".join(entries[:most]) + rest
