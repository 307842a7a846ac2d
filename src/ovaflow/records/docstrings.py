"""The built-in dataset: docstrings of the installed Python packages, labelled with their modules
and parameters.

It looks like the large public datasets: short texts, thousands of labels, a long tail. Sources are
parsed and never imported.
"""

import ast
import contextlib
import gc
import hashlib
import os
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.reading.instances import TextInstance
from ovaflow.records.drawing import is_drawn_for_test

MAX_TEXTS = 20_000
"""Size of the dataset where the environment holds more docstrings."""
MIN_CHARACTERS = 60
"""Characters; below, a docstring says next to nothing about where it is from."""
SKIPPED_FOLDERS = frozenset(
    {"__pycache__", "_vendor", "_vendored", "site-packages", "test", "testing", "tests", "ovaflow"}
)
"""Tests, copies of other packages, and ovaflow, whose own changes must not change the dataset."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_RECEIVERS = frozenset({"self", "cls", "mcs"})


class Docstrings(NamedTuple):
    """Training and test instances, and figures."""

    train: list[TextInstance]
    test: list[TextInstance]
    counts: dict[str, Any]


def collect_docstrings(
    roots: Iterable[Path | str] | None = None, test_fraction: float = 0.2, seed: int = 0
) -> Docstrings:
    """Collect the docstrings of packages.

    Parameters
    ----------
    roots : iterable of path, optional
        Folders of packages; by default those of the running interpreter.
    test_fraction : float
    seed : int
    """
    modules = list(_find_modules(_find_installed_folders() if roots is None else roots).items())
    # in the order of a hash of their names, so that a share of a large environment is enough
    modules.sort(key=lambda module: _hash_text(module[0]))
    labels_by_text, counts = _read_modules(modules)
    frequency: Counter[str] = Counter()
    for labels in labels_by_text.values():
        frequency.update(labels)
    train = []
    test = []
    for text in sorted(labels_by_text, key=_hash_text):
        labels = [label for label in labels_by_text[text] if frequency[label] > 1]
        instance = TextInstance(text, labels)
        if is_drawn_for_test(text, test_fraction, seed):
            test.append(instance)
        else:
            train.append(instance)
    counts["python"] = ".".join(str(number) for number in sys.version_info[:3])
    counts["labels_used_once"] = sum(count == 1 for count in frequency.values())
    return Docstrings(train, test, counts)


def _hash_text(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _find_installed_folders() -> set[Path]:
    """Find the folders of the running interpreter's packages."""
    folders = set()
    for name in ("stdlib", "platstdlib", "purelib", "platlib"):
        folders.add(Path(sysconfig.get_path(name)))
    # after pip install --user not where sysconfig says
    folders.add(Path(np.__file__).parent.parent)
    return folders


def _find_modules(roots: Iterable[Path | str]) -> dict[str, Path]:
    """Find the file of every module below some folders by its dotted name, without tests."""
    files_by_module: dict[str, Path] = {}
    for root in sorted(Path(root) for root in roots):
        for folder, folders, files in os.walk(root):
            package = Path(folder).relative_to(root).parts
            folders[:] = [
                name for name in folders if name.isidentifier() and name not in SKIPPED_FOLDERS
            ]
            for file in files:
                path = Path(folder, file)
                if path.suffix == ".py" and path.stem.isidentifier():
                    names = package if path.stem == "__init__" else (*package, path.stem)
                    files_by_module[".".join(names)] = path
    files_by_module.pop("", None)
    return files_by_module


def _read_modules(
    modules: list[tuple[str, Path]],
) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Read modules until there are enough texts.

    Returns
    -------
    labels_by_text : dict
    counts : dict
    """
    labels_by_text: dict[str, list[str]] = {}
    counts: dict[str, Any] = {
        "modules_installed": len(modules),
        "modules_read": 0,
        "modules_unreadable": 0,
        "repeated_texts": 0,
    }
    with _pause_garbage_collector(), Progress("reading docstrings", MAX_TEXTS, "texts") as progress:
        for name, path in modules:
            n_texts = len(labels_by_text)
            if n_texts >= MAX_TEXTS:
                break
            counts["modules_read"] += 1
            definitions = _read_definitions(path)
            if definitions is None:
                counts["modules_unreadable"] += 1
                continue
            for text, parameters in definitions:
                if text in labels_by_text:
                    counts["repeated_texts"] += 1
                elif len(labels_by_text) < MAX_TEXTS:
                    levels = accumulate(name.split("."), "{}.{}".format)
                    labels_by_text[text] = [*levels, *parameters]
            progress.advance(len(labels_by_text) - n_texts)
    return labels_by_text, counts


@contextlib.contextmanager
def _pause_garbage_collector() -> Iterator[None]:
    """Search for no cyclic garbage: trees have none, and the search took over half of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _read_definitions(path: Path) -> list[tuple[str, list[str]]] | None:
    """Read docstring and parameter labels of each class and function of a file.

    Returns
    -------
    list of pairs, or None for a file that cannot be parsed
    """
    source = path.read_bytes()
    if b'"""' not in source and b"'''" not in source:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's docstrings
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return list(_iterate_definitions(tree.body))


def _iterate_definitions(statements: Iterable[ast.AST]) -> Iterator[tuple[str, list[str]]]:
    """Yield docstring and parameter labels of the definitions among some statements."""
    for node in statements:
        if isinstance(node, _DEFINITIONS):
            text = ast.get_docstring(node)
            if text and len(text) >= MIN_CHARACTERS:
                yield text, _list_parameters(node)
        for block in ("body", "orelse", "finalbody", "handlers"):
            inner = getattr(node, block, None)
            if isinstance(inner, list):
                yield from _iterate_definitions(inner)


def _list_parameters(node: ast.AST) -> list[str]:
    """List the labels of the parameters of a function, or of a class's ``__init__``."""
    function: Any = node
    if isinstance(node, ast.ClassDef):
        function = _find_init(node)
    if function is None:
        return []
    signature = function.args
    arguments = [
        *signature.posonlyargs,
        *signature.args,
        signature.vararg,
        *signature.kwonlyargs,
        signature.kwarg,
    ]
    names = [argument.arg for argument in arguments if argument is not None]
    return [f"param:{name}" for name in names if name not in _RECEIVERS]


def _find_init(node: ast.ClassDef) -> Any:
    for item in node.body:
        if isinstance(item, _FUNCTIONS) and item.name == "__init__":
            return item
    return None
