"""Hashes of ovaflow's own source: what makes caches and results of older code stale."""

import hashlib
import re
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent

# each start of each command comes by here, and parsing every module would take a quarter of a second
_OWN = rf"{_PACKAGE.name}\b[\w.]*"
_IMPORT = re.compile(
    rf"^[ \t]*(?:from[ \t]+({_OWN})[ \t]+import[ \t]*(\([^)]*\)|[^\n]*)|import[ \t]+({_OWN}[^\n]*))", re.MULTILINE
)
_NAME = re.compile(r"(?<!as )\b(?!as\b)[\w.]+")


def _digest(paths):
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(paths):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def kernel_fingerprint():
    """Hash of every module that compiles kernels and of all that those modules import.

    Returns
    -------
    str
        32 hexadecimal digits.
    """
    decorators = _PACKAGE / "sparse" / "jit.py"
    users = [path for path in _PACKAGE.rglob("*.py") if decorators in _imports_of(path)]
    return _digest(_closure(users))


@cache
def code_fingerprint(*modules):
    """Hash of some modules, of every ovaflow module that they import, directly or not, and of their templates.

    A rule of the workflow carries the fingerprint of its subcommand, so that a
    change of the code re-runs exactly the steps that execute it.

    Parameters
    ----------
    *modules : str
        Dotted names, such as ``"ovaflow.cli.prepare"``.

    Returns
    -------
    str
        32 hexadecimal digits.

    Raises
    ------
    ModuleNotFoundError
        If a name is no module of the package.
    """
    waiting = [_source_of(name) for name in modules]
    for name, path in zip(modules, waiting, strict=True):
        if path is None:
            raise ModuleNotFoundError(f"no module named {name!r}", name=name)
    reached = _closure(waiting)
    templates = {path for source in reached for path in (source.parent / "templates").glob("*") if path.is_file()}
    return _digest(reached | templates)


def _closure(paths):
    reached, waiting = set(), list(paths)
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting.extend(_imports_of(path))
    return reached


@cache
def _source_of(dotted):
    parts = dotted.split(".")
    if parts[0] != _PACKAGE.name:
        return None
    base = _PACKAGE.joinpath(*parts[1:])
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _imports_of(path):
    found = set()
    for module, names, modules in _IMPORT.findall(path.read_text(encoding="utf-8")):
        dotted = [f"{module}.{name}" for name in _NAME.findall(names)] + _NAME.findall(modules)
        for parts in (name.split(".") for name in dotted):
            ancestors = (".".join(parts[:depth]) for depth in range(1, len(parts) + 1))
            found.update(source for source in map(_source_of, ancestors) if source is not None)
    return frozenset(found)
