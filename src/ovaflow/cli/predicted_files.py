"""In which form and where predicted labels are written: the formats of ovaflow predict, by name and
by ending.
"""

import sys
from contextlib import contextmanager
from datetime import date

import click

from ovaflow.prediction.annif_files import AnnifLines, write_record_files
from ovaflow.prediction.answer_files import (
    BYTE_ORDER_MARK,
    Csv,
    JoinedCsv,
    JsonLines,
    TableSettings,
    TerminalTable,
    XmcText,
)
from ovaflow.prediction.marcxml import MarcXml
from ovaflow.storage.writing import write_atomically

_DELIMITERS = {"csv": ",", "tsv": "\t"}
OUTPUT_FORMAT_TYPE = click.Choice(["jsonl", *_DELIMITERS, "annif", "marcxml", "xmc-text", "table"])
_OUTPUTS = {
    "": "jsonl",
    **dict.fromkeys([".jsonl", ".ndjson"], "jsonl"),
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "xmc-text",
    **dict.fromkeys([".xml", ".marcxml"], "marcxml"),
}


@contextmanager
def open_answer_output(predictor, path, output_format, titled, divides, **described):
    """Lines of a file, or of standard output."""
    writer = _writer(output_format, path, predictor, titled, **described)
    if divides and isinstance(writer, XmcText):
        raise click.UsageError("xmc-text has no ids, so it needs all records: write csv or jsonl")
    with write_record_files(path) if isinstance(writer, AnnifLines) else _destination(path) as out:
        if path is not None and isinstance(writer, JoinedCsv):
            out.write(BYTE_ORDER_MARK)
        writer.begin(out)
        lines = _Lines(out, writer)
        yield lines
        writer.end(out, lines.n)


class _Lines:
    """What is written of records, some after the others."""

    def __init__(self, out, writer) -> None:
        self._out = out
        self.writer = writer
        self.n = self.empty = 0

    def add(self, answered) -> None:
        for record, answer in answered:
            self.n += 1
            self.empty += not answer.labels
            self._out.write(self.writer.write(record, answer))
        self._out.flush()


def _writer(name, output, predictor, titled, joined, keep, marc_source):
    name = name or _format_of_output(output, joined)
    tables = (*_DELIMITERS,)
    probabilistic = predictor.model.probabilistic
    for given, value, formats in (
        ("--joined", joined, tables),
        ("--keep", keep, tables),
        ("--marc-source", marc_source, ("marcxml",)),
    ):
        if value and name not in formats:
            raise click.UsageError(f"{given} goes with {' or '.join(formats)}, not {name}")
    _require_place(name, output)
    if name in tables:
        if joined is not None:
            _require_absent(joined, predictor.label_names)
        settings = TableSettings(
            has_uris=len(predictor.label_uris) > 0,
            probabilistic=probabilistic,
            kept=keep,
            delimiter=_DELIMITERS[name],
        )
        writer = Csv(settings) if joined is None else JoinedCsv(settings, joined)
        repeated = [column for column in keep if writer.columns.count(column) > 1]
        if repeated:
            raise click.UsageError(f"--keep {repeated[0]}: the output has a column of this name")
        return writer
    if name == "annif":
        return AnnifLines()
    if name == "marcxml":
        return MarcXml(predictor, marc_source, date.today())
    if name == "xmc-text":
        return XmcText(predictor.n_labels)
    if name == "table":
        return TerminalTable(titled=titled)
    return JsonLines()


def _require_place(name, output) -> None:
    """Refuse standard output for what cannot go there, and a folder for a file."""
    if name == "xmc-text" and output is None:
        raise click.UsageError(
            "xmc-text begins with the number of instances: name a file with --output"
        )
    if name == "annif" and (output is None or output.is_file()):
        raise click.UsageError("annif writes a file for each record: name a folder with --output")
    if name != "annif" and output is not None and output.is_dir():
        raise click.UsageError(
            f"{output} is a folder, for --output-format=annif: name a file for {name}"
        )


def _format_of_output(output, mark):
    if output is not None and output.is_dir():
        return "annif"
    if output is not None:
        name = _OUTPUTS.get(output.suffix.lower())
        if name is None:
            names = ", ".join(filter(None, _OUTPUTS))
            message = f"no format is written under such a name: use {names} or --output-format"
            raise click.UsageError(f"{output}: {message}")
        return name
    if mark is not None:
        return "csv"
    return "table" if sys.stdout.isatty() else "jsonl"


def _require_absent(mark, names) -> None:
    name = next((name for name in names if mark in name), None)
    if name is not None:
        message = f"--joined {mark!r}: the label {name!r} has it in its name; choose another"
        raise click.UsageError(message)


@contextmanager
def _destination(path):
    if path is not None:
        with (
            write_atomically(path) as temporary,
            open(temporary, "w", encoding="utf-8", newline="") as file,
        ):
            yield file
        return
    sys.stdout.reconfigure(encoding="utf-8")
    yield sys.stdout
    sys.stdout.flush()
