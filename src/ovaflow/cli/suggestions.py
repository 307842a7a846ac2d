"""Options of files of suggestions by other programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ovaflow.dataset.dataset import Dataset
from ovaflow.labels.matrix import number_labels
from ovaflow.model.model_file import Model
from ovaflow.reranking.reranked_model import RerankedModel
from ovaflow.reranking.suggestions import SuggestionFile, read_suggestions
from ovaflow.settings.suggestion_sources import name_source

RECORD_IDS_REMEDY = "give the ids of records.csv, by ovaflow hold-out --records"


NamedPath = tuple[str, str]
"""Name and path of a file of suggestions."""


def _split_name(value: str) -> NamedPath:
    """Split [NAME=]FILE; the name is by default that of the file."""
    name, mark, path = value.partition("=")
    if not mark or Path(value).exists():
        return name_source(value), value
    return name, path


SUGGESTIONS_OPTION = click.option(
    "--suggestions",
    multiple=True,
    metavar="[NAME=]FILE",
    callback=lambda _context, _option, values: [_split_name(value) for value in values],
    help="CSV of id, label and score by another program, or a folder of Annif's results;"
    " repeatable.",
)


def read_suggestion_files(
    named_paths: Sequence[NamedPath], named: Dataset | Model, parameters: Mapping[str, Any]
) -> dict[str, SuggestionFile]:
    """Read files of suggestions, by name, for the labels of a dataset or a model."""
    paths = {}
    for name, path in named_paths:
        if name in paths:
            raise click.UsageError(f"--suggestions: two files are called {name}; give NAME=FILE")
        paths[name] = path
    numbers = number_labels(named, parameters) if paths else {}
    return {name: read_suggestions(path, numbers) for name, path in paths.items()}


def open_suggestion_files(
    model: Model, named_paths: Sequence[NamedPath]
) -> dict[str, SuggestionFile]:
    """Read files of suggestions for the second stage of a model.

    They have the names that it was fitted with; a single file needs no name.
    """
    known: Sequence[str] = []
    if isinstance(model, RerankedModel):
        known = model.reranker.files
    if len(known) == len(named_paths) == 1:
        named_paths = [(known[0], named_paths[0][1])]
    for name, _ in named_paths:
        if name not in known:
            names = ", ".join(known) or "no file of suggestions"
            message = f"{name} is unknown; the second stage was fitted with {names}"
            raise click.UsageError(f"--suggestions: {message}")
    if known and not named_paths:
        remark = "rank with their suggestions as well, which --suggestions gives"
        click.echo(f"ovaflow: {', '.join(known)}: the second stage can {remark}", err=True)
    return read_suggestion_files(named_paths, model, model.transform)
