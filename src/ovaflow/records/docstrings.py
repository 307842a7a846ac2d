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
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

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
    counts: dict


def collect_docstrings(roots=None, test_fraction=0.2, seed=0):
    """:class:`Docstrings` of the running interpreter's packages, or of those below ``roots``."""
    # in the order of a hash of their names, so that a share of a large environment is enough
    modules = sorted(
        _modules(_installed() if roots is None else roots), key=lambda pair: _hash(pair[0])
    )
    labels_by_text, counts = _collect(modules)
    frequency = Counter(label for labels in labels_by_text.values() for label in labels)
    frequent = {label for label, count in frequency.items() if count > 1}
    train = []
    test = []
    for text in sorted(labels_by_text, key=_hash):
        instance = TextInstance(text, list(filter(frequent.__contains__, labels_by_text[text])))
        (test if is_drawn_for_test(text, test_fraction, seed) else train).append(instance)
    counts |= {
        "python": ".".join(map(str, sys.version_info[:3])),
        "labels_used_once": sum(1 for count in frequency.values() if count == 1),
    }
    return Docstrings(train, test, counts)


def _hash(text):
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _installed():
    elsewhere = Path(np.__file__).parent.parent  # not where sysconfig says after pip install --user
    return {
        Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")
    } | {elsewhere}


def _modules(roots):
    """Dotted name and file of every module below some folders, without tests."""
    files_by_module = {}
    for root in sorted(map(Path, roots)):
        for folder, folders, files in os.walk(root):
            package = Path(folder).relative_to(root).parts
            folders[:] = [
                name for name in folders if name.isidentifier() and name not in SKIPPED_FOLDERS
            ]
            for path in map(Path, files):
                if path.suffix == ".py" and path.stem.isidentifier():
                    module = ".".join(package if path.stem == "__init__" else (*package, path.stem))
                    files_by_module[module] = Path(folder, path)
    files_by_module.pop("", None)
    return files_by_module.items()


def _collect(modules):
    """Labels of each text, module by module until there are enough texts."""
    labels_by_text = {}
    counts = {
        "modules_installed": len(modules),
        "modules_read": 0,
        "modules_unreadable": 0,
        "repeated_texts": 0,
    }
    with _without_collections(), Progress("reading docstrings", MAX_TEXTS, "texts") as progress:
        for name, path in modules:
            before = len(labels_by_text)
            if before >= MAX_TEXTS:
                break
            definitions = _definitions(path)
            counts["modules_read"] += 1
            counts["modules_unreadable"] += definitions is None
            for text, parameters in definitions or ():
                if text in labels_by_text:
                    counts["repeated_texts"] += 1
                elif len(labels_by_text) < MAX_TEXTS:
                    levels = accumulate(name.split("."), "{}.{}".format)
                    labels_by_text[text] = [*levels, *parameters]
            progress.advance(len(labels_by_text) - before)
    return labels_by_text, counts


@contextlib.contextmanager
def _without_collections():
    """Without searches for cyclic garbage: trees have none, and more than half of the time went
    there.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _definitions(path):
    """Docstring and parameter labels of each class and function of a file; None if it cannot be
    parsed.
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
    return list(_definitions_in(tree.body))


def _definitions_in(statements):
    for node in statements:
        if isinstance(node, _DEFINITIONS):
            text = ast.get_docstring(node)
            if text and len(text) >= MIN_CHARACTERS:
                yield text, _parameters(node)
        for block in ("body", "orelse", "finalbody", "handlers"):
            inner = getattr(node, block, None)
            if isinstance(inner, list):
                yield from _definitions_in(inner)


def _parameters(node):
    if isinstance(node, ast.ClassDef):
        node = next(
            (
                item
                for item in node.body
                if isinstance(item, _FUNCTIONS) and item.name == "__init__"
            ),
            None,
        )
        if node is None:
            return []
    signature = node.args
    arguments = [
        *signature.posonlyargs,
        *signature.args,
        signature.vararg,
        *signature.kwonlyargs,
        signature.kwarg,
    ]
    names = [argument.arg for argument in arguments if argument is not None]
    return [f"param:{name}" for name in names if name not in _RECEIVERS]
