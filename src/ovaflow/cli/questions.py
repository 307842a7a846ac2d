"""Options of questions to a model."""

from typing import Any

from ovaflow.cli.options import Decorator, collect_options, setting_option
from ovaflow.labels.choice import expand_entries
from ovaflow.prediction.question import Question

_MAY_BE_FILES = ("include", "exclude")


def question_options(*names: str) -> Decorator:
    """Return a decorator with the options of a question, passed as ``question``.

    Without names these are all fields of :class:`Question`.
    """
    options = {}
    for name in names or Question.model_fields:
        more = {}
        if name in _MAY_BE_FILES:
            sentence = Question.model_fields[name].description or ""
            capitalized = f"{sentence[:1].upper()}{sentence[1:]}"
            more["help"] = f"{capitalized}, or a .txt file of these; repeatable."
        options[name] = setting_option(Question, name, **more)
    return collect_options("question", options, _make_question)


def _make_question(given: dict[str, Any]) -> Question:
    """Make a question of options; names of files are replaced by their entries."""
    for name in _MAY_BE_FILES:
        entries = given.get(name, [])
        if isinstance(entries, str):
            entries = [entries]
        given[name] = expand_entries(entries)
    return Question.model_validate(given)
