"""The outputs of ovaflow predict: formats by name and by ending, and destinations."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import click

from ovaflow.prediction.annif_files import AnnifLines, write_record_files
from ovaflow.prediction.answer import Answer
from ovaflow.prediction.answer_files import (
    BYTE_ORDER_MARK,
    AnsweredRecord,
    AnswerFormat,
    Csv,
    JoinedCsv,
    JsonLines,
    TableSettings,
    TerminalTable,
    XmcText,
)
from ovaflow.prediction.marcxml import MarcXml
from ovaflow.prediction.predictor import Predictor
from ovaflow.storage.writing import write_atomically

_DELIMITERS = {"csv": ",", "tsv": "\t"}
OUTPUT_FORMAT_TYPE = click.Choice(["jsonl", *_DELIMITERS, "annif", "marcxml", "xmc-text", "table"])
_FORMAT_BY_SUFFIX = {
    "": "jsonl",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "xmc-text",
    ".xml": "marcxml",
    ".marcxml": "marcxml",
}

AnsweredBatch = Iterable[tuple[AnsweredRecord, Answer]]
"""Records with their answers."""


@contextmanager
def open_answer_output(
    predictor: Predictor,
    path: Path | None,
    *,
    output_format: str | None,
    titled: bool,
    divides: bool,
    joined: str | None,
    keep: Sequence[str],
    marc_source: str | None,
) -> Iterator["AnswerLines"]:
    """Open a file, or standard output, for the lines of answers.

    Parameters
    ----------
    predictor : Predictor
    path : Path or None
        File or folder to write; None: standard output.
    output_format : str or None
        Name of the format; None: by the path.
    titled : bool
        Whether tables on the terminal say which record they are about.
    divides : bool
        Whether records are divided into two files.
    joined : str or None
        Mark between the labels of a record in csv and tsv; None: one row per label.
    keep : sequence of str
        Columns of the records that are copied into csv and tsv.
    marc_source : str or None
        Vocabulary in marcxml.

    Yields
    ------
    AnswerLines
    """
    name = output_format or _guess_format(path, joined)
    _require_matching_options(name, joined, keep, marc_source)
    _require_place(name, path)
    writer = _make_writer(
        name, predictor, titled=titled, joined=joined, keep=keep, marc_source=marc_source
    )
    if divides and isinstance(writer, XmcText):
        raise click.UsageError("xmc-text has no ids, so it needs all records: write csv or jsonl")
    destination: AbstractContextManager[Any]
    if isinstance(writer, AnnifLines):
        assert path is not None
        destination = write_record_files(path)
    else:
        destination = _open_destination(path)
    out: Any
    with destination as out:
        if path is not None and isinstance(writer, JoinedCsv):
            out.write(BYTE_ORDER_MARK)
        writer.begin(out)
        lines = AnswerLines(out, writer)
        yield lines
        writer.end(out, lines.n)


class AnswerLines:
    """Lines of records, written batch by batch."""

    def __init__(self, out: Any, writer: Any) -> None:
        self._out = out
        self.writer = writer
        self.n = 0  # records
        self.empty = 0  # records without labels

    def add(self, answered: AnsweredBatch) -> None:
        """Write records with their answers."""
        for record, answer in answered:
            self.n += 1
            if not answer.labels:
                self.empty += 1
            self._out.write(self.writer.write(record, answer))
        self._out.flush()


def _require_matching_options(
    name: str, joined: str | None, keep: Sequence[str], marc_source: str | None
) -> None:
    """Refuse options that the format does not have."""
    tables = tuple(_DELIMITERS)
    for option, value, formats in (
        ("--joined", joined, tables),
        ("--keep", keep, tables),
        ("--marc-source", marc_source, ("marcxml",)),
    ):
        if value and name not in formats:
            raise click.UsageError(f"{option} goes with {' or '.join(formats)}, not {name}")


def _make_writer(
    name: str,
    predictor: Predictor,
    *,
    titled: bool,
    joined: str | None,
    keep: Sequence[str],
    marc_source: str | None,
) -> AnswerFormat:
    """Make the writer of a format."""
    if name in _DELIMITERS:
        return _make_csv_writer(_DELIMITERS[name], predictor, joined, keep)
    if name == "annif":
        return AnnifLines()
    if name == "marcxml":
        return MarcXml(predictor, marc_source, date.today())
    if name == "xmc-text":
        return XmcText(predictor.n_labels)
    if name == "table":
        return TerminalTable(titled=titled)
    return JsonLines()


def _make_csv_writer(
    delimiter: str, predictor: Predictor, joined: str | None, keep: Sequence[str]
) -> Csv | JoinedCsv:
    """Make the writer of csv or tsv, with a row per label or per record."""
    settings = TableSettings(
        has_uris=len(predictor.label_uris) > 0,
        probabilistic=predictor.model.probabilistic,
        kept=keep,
        delimiter=delimiter,
    )
    writer: Csv | JoinedCsv
    if joined is None:
        writer = Csv(settings)
    else:
        _require_absent(joined, predictor.label_names)
        writer = JoinedCsv(settings, joined)
    for column in keep:
        if writer.columns.count(column) > 1:
            raise click.UsageError(f"--keep {column}: the output has a column of this name")
    return writer


def _require_place(name: str, output: Path | None) -> None:
    """Refuse standard output for formats that need a file, and a folder for a file."""
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


def _guess_format(output: Path | None, joined: str | None) -> str:
    """Return the format of an output by its name or place."""
    if output is not None and output.is_dir():
        return "annif"
    if output is not None:
        name = _FORMAT_BY_SUFFIX.get(output.suffix.lower())
        if name is None:
            suffixes = ", ".join(suffix for suffix in _FORMAT_BY_SUFFIX if suffix)
            message = f"the name does not tell the format: use {suffixes} or --output-format"
            raise click.UsageError(f"{output}: {message}")
        return name
    if joined is not None:
        return "csv"
    return "table" if sys.stdout.isatty() else "jsonl"


def _require_absent(mark: str, names: Iterable[str]) -> None:
    """Refuse a mark between labels that is part of a label's name."""
    for name in names:
        if mark in name:
            message = f"--joined {mark!r}: the label {name!r} contains it; choose another"
            raise click.UsageError(message)


@contextmanager
def _open_destination(path: Path | None) -> Iterator[Any]:
    """Open a file that is complete or absent afterwards; without a path standard output."""
    if path is not None:
        with (
            write_atomically(path) as temporary,
            open(temporary, "w", encoding="utf-8", newline="") as file,
        ):
            yield file
        return
    output: Any = sys.stdout
    output.reconfigure(encoding="utf-8")
    yield output
    output.flush()
