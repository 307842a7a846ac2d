"""Methods by the names that they have in configs and models, and the steps of all of them.

Methods are in the highest layer. This module, which lower layers import, only has references to
them; methods of other packages are found by their entry points.
"""

import pkgutil
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ovaflow.console.errors import InputError
from ovaflow.steps import STEPS, Step, StepSettings

METHOD_ENTRY_POINTS = "ovaflow.methods"
"""Group of the entry points of methods: each names a class, see
:class:`ovaflow.training.method.Method`.
"""

ONE_VS_ALL = "one-vs-all"
"""Name of the default method."""

BUILT_IN = {
    ONE_VS_ALL: "ovaflow.methods.one_vs_all.method:OneVsAllMethod",
    "fastxml": "ovaflow.methods.fastxml.method:FastXMLMethod",
    "rembrandt": "ovaflow.methods.rembrandt.method:RembrandtMethod",
}
"""References to the classes of ovaflow's own methods, by name."""

CLASSIFIERS = {
    "FastXMLClassifier": "ovaflow.methods.fastxml.classifier:FastXMLClassifier",
    "OneVsAllClassifier": "ovaflow.methods.one_vs_all.classifier:OneVsAllClassifier",
    "RembrandtClassifier": "ovaflow.methods.rembrandt.classifier:RembrandtClassifier",
}
"""References to the classifiers for Python programs, by name."""


def import_reference(reference: Any) -> Any:
    """Import ``package.module:Name``; anything but a string is returned unchanged."""
    if isinstance(reference, str):
        return pkgutil.resolve_name(reference)
    return reference


@cache
def _find_installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=METHOD_ENTRY_POINTS)}


def method_names() -> tuple[str, ...]:
    """List the names of all methods, those of ovaflow first."""
    others = _find_installed().keys() - BUILT_IN.keys()
    return (*BUILT_IN, *sorted(others))


@cache
def find_method(name: str) -> Any:
    """Find a method by its name.

    Parameters
    ----------
    name : str
        Name, as configs have it.

    Returns
    -------
    method : ovaflow.training.method.Method
        The method.

    Raises
    ------
    InputError
        If no installed package has such a method.
    """
    if name in BUILT_IN:
        return import_reference(BUILT_IN[name])()
    if name not in _find_installed():
        remedy = f"install the package that has it; there are {', '.join(method_names())}"
        raise InputError(f"no method {name}", remedy=remedy)
    return _find_installed()[name].load()()


def find_package(name: str) -> str:
    """Find the package that a method comes from; empty for methods of ovaflow."""
    if name in BUILT_IN:
        return ""
    point = _find_installed().get(name)
    return point.dist.name if point and point.dist else ""


@cache
def all_steps() -> dict[str, Step]:
    """List the steps by their names, in the order in which a run takes them.

    Steps of methods come before the training of shards.
    """
    names = list(STEPS)
    steps = {}
    for name in names[: names.index("train-shard")]:
        steps[name] = STEPS[name]
    for name in method_names():
        steps |= find_method(name).steps
    return steps | STEPS


def find_reads(step: str, method: str = ONE_VS_ALL) -> StepSettings:
    """Return the settings that a step reads, with the names of all fields, which may be none."""
    reads = all_steps()[step].settings or find_method(method).reads(step)
    if not reads:
        reads = StepSettings("ovaflow.settings.section:Section", ())
    fields = reads.fields or tuple(import_reference(reads.model).model_fields)
    return reads._replace(fields=tuple(name for name in fields if name not in reads.without))
