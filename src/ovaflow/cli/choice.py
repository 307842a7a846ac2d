"""Options of which labels a command predicts, and in which language they are named."""

import click

from ovaflow.cli.options import several
from ovaflow.data.label_choice import entries_of

_ENTRIES = "name, URI, pattern such as 'http://example.org/places/*', scheme or collection, or a .txt file of these"
_OPTIONS = (
    click.option(
        "--include",
        multiple=True,
        metavar="LABEL",
        help=f"Predict only these labels: a {_ENTRIES}; repeatable.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="LABEL",
        help="Leave these labels out, also of those included; others take their places; repeatable.",
    ),
    click.option(
        "--language",
        help="Language of the labels' names, such as sv, where the vocabulary has it; by default that of the model.",
    ),
)
CHOICE = ("include", "exclude", "language")


chooses_labels = several(_OPTIONS)
"""Decorate a command with ``--include``, ``--exclude`` and ``--language``."""


def chosen_labels(predictor, include, exclude, language):
    """A model with names in a language, and which of its labels are allowed; None: all."""
    if language is not None:
        predictor = predictor.in_language(language)
    if not (include or exclude):
        return predictor, None
    return predictor, predictor.allowed(entries_of(include), entries_of(exclude))
