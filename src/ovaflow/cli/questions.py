"""Options of what is asked of a model."""

from ovaflow.cli.options import collect_options, setting_option
from ovaflow.labels.choice import expand_entries
from ovaflow.prediction.question import Question

_MAY_BE_FILES = ("include", "exclude")


def question_options(*names):
    """Decorator: options of what can be asked, all of it or some fields; the command takes them as
    a ``question``.
    """
    options = {}
    for name in names or Question.model_fields:
        more = {}
        if name in _MAY_BE_FILES:
            sentence = Question.model_fields[name].description
            more["help"] = (
                f"{sentence[:1].upper()}{sentence[1:]}, or a .txt file of these; repeatable."
            )
        options[name] = setting_option(Question, name, **more)
    return collect_options("question", options, _question)


def _question(asked):
    for name in _MAY_BE_FILES:
        entries = asked.get(name, [])
        asked[name] = expand_entries([entries] if isinstance(entries, str) else entries)
    return Question.model_validate(asked)
