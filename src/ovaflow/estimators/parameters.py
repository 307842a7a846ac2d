"""Constructors of classifiers, made of settings: scikit-learn reads their signature."""

import inspect
from typing import Any, NamedTuple, get_origin

from ovaflow.settings.models import Section


class Parameter(NamedTuple):
    """A parameter of a constructor."""

    default: Any
    kind: str
    description: str


def of_field(model: type[Section], name: str) -> Parameter:
    """The parameter that a setting is."""
    field = model.model_fields[name]
    kind = str(field.annotation) if get_origin(field.annotation) else getattr(field.annotation, "__name__", "object")
    return Parameter(field.default, kind.replace("typing.", ""), str(field.description))


def add_constructor(cls: type, parameters: dict[str, Parameter]) -> None:
    """Give a class an ``__init__`` with these keyword parameters, and tell of them in its docstring."""

    def __init__(self: Any, **given: Any) -> None:
        for name in given.keys() - parameters.keys():
            raise TypeError(f"{cls.__name__}() got an unexpected keyword argument {name!r}")
        for name, parameter in parameters.items():
            setattr(self, name, given.get(name, parameter.default))

    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default)
        for name, parameter in parameters.items()
    ]
    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = inspect.Signature([self, *keywords])  # type: ignore[attr-defined]
    cls.__init__ = __init__  # type: ignore[misc]
    entries = (f"{name} : {each.kind}\n    {each.description}" for name, each in parameters.items())
    cls.__doc__ = f"{inspect.getdoc(cls)}\n\nParameters\n----------\n" + "\n".join(entries) + "\n"
