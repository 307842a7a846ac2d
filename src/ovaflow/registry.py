"""Methods by the names that they have in configs and models, and the steps of all of them.

Methods stand on top of the house, so here they are only named, as those of other packages are by
their entry points.
"""

import pkgutil
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ovaflow.console.errors import InputError
from ovaflow.steps import STEPS, Step

METHOD_ENTRY_POINTS = "ovaflow.methods"
"""Group of the entry points of methods: each names a class, see
:class:`ovaflow.training.method.Method`.
"""

ONE_VS_ALL = "one-vs-all"

BUILT_IN = {
    ONE_VS_ALL: "ovaflow.methods.one_vs_all.method:OneVsAllMethod",
    "fastxml": "ovaflow.methods.fastxml.method:FastXMLMethod",
    "rembrandt": "ovaflow.methods.rembrandt.method:RembrandtMethod",
}

CLASSIFIERS = {
    "FastXMLClassifier": "ovaflow.methods.fastxml.classifier:FastXMLClassifier",
    "OneVsAllClassifier": "ovaflow.methods.one_vs_all.classifier:OneVsAllClassifier",
    "RembrandtClassifier": "ovaflow.methods.rembrandt.classifier:RembrandtClassifier",
}
"""Classifiers for Python programs."""


def import_reference(place: Any) -> Any:
    """What stands at a place, such as ``package.module:Name``; what is no text is meant itself."""
    return pkgutil.resolve_name(place) if isinstance(place, str) else place


@cache
def _installed() -> dict[str, EntryPoint]:
    return {each.name: each for each in entry_points(group=METHOD_ENTRY_POINTS)}


def method_names() -> tuple[str, ...]:
    """Names of all methods, those of ovaflow first."""
    return (*BUILT_IN, *sorted(_installed().keys() - BUILT_IN.keys()))


@cache
def find_method(name: str) -> Any:
    """A method by its name, see :class:`ovaflow.training.method.Method`."""
    if name in BUILT_IN:
        return import_reference(BUILT_IN[name])()
    if name not in _installed():
        remedy = f"install the package that has it; there are {', '.join(method_names())}"
        raise InputError(f"no method {name}", remedy=remedy)
    return _installed()[name].load()()


def find_package(name: str) -> str:
    """The package that a method comes from; empty for those of ovaflow."""
    point = _installed().get(name) if name not in BUILT_IN else None
    return point.dist.name if point and point.dist else ""


@cache
def all_steps() -> dict[str, Step]:
    """Steps by their names in the order in which a run takes them, those of methods before their
    shards.
    """
    before = list(STEPS).index("train-shard")
    steps = dict(list(STEPS.items())[:before])
    for name in method_names():
        steps |= find_method(name).steps
    return steps | STEPS
