"""Options of what is asked of a model."""

import functools

from ovaflow.cli.options import one_or_several, option
from ovaflow.data.label_choice import entries_of
from ovaflow.prediction.question import Question

_MAY_BE_FILES = ("include", "exclude")


def asks(*names):
    """Decorator: options of what can be asked, all of it or some fields; the command takes them as a ``question``."""
    names = names or tuple(Question.model_fields)

    def decorate(command):
        @functools.wraps(command)
        def with_question(**arguments):
            values = {name: one_or_several(arguments.pop(name)) for name in names}
            asked = {name: value for name, value in values.items() if value is not None}
            for name in _MAY_BE_FILES:
                entries = asked.get(name, [])
                asked[name] = entries_of([entries] if isinstance(entries, str) else entries)
            return command(**arguments, question=Question.model_validate(asked))

        for name in reversed(names):
            more = {}
            if name in _MAY_BE_FILES:
                sentence = Question.model_fields[name].description
                more["help"] = f"{sentence[:1].upper()}{sentence[1:]}, or a .txt file of these; repeatable."
            with_question = option(Question, name, **more)(with_question)
        return with_question

    return decorate
