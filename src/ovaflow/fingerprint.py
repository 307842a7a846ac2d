"""Hashes of the code that each step executes, which tell results and kernels of older code.

Comments, layout and docstrings do not count. Of the command line each function counts by itself,
since commands of one module make different files. Parsing the package takes a second, so the hashes
are kept in the cache folder, under a name made from the bytes of all sources.
"""

import ast
import hashlib
import json
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

import ovaflow

_PACKAGE = Path(__file__).parent

_SILENT = (
    "__init__.py",
    "cli/__init__.py",
    "console/",
    "fingerprint.py",
    "machine/",
    "settings/",
    "steps.py",
    "workflow.py",
)
"""Modules that no artifact depends on: they hold settings, speak, or place a job on its machine."""

_COMMANDS = "cli/"
_KERNELS = "kernels"


def cache_folder():
    """Folder of what all jobs share: ``$OVAFLOW_CACHE`` or ``~/.cache/ovaflow``."""
    return Path(os.environ.get("OVAFLOW_CACHE") or Path.home() / ".cache" / "ovaflow")


def kernel_fingerprint():
    """Hash of every module that compiles kernels and of all that these import."""
    return code_fingerprint(_KERNELS)


def code_fingerprint(subcommand):
    """Hash of the function of a subcommand and of all that it imports, templates included.

    Of the modules that a workflow brings along, the version: its jobs run the ovaflow of their
    environment.
    """
    if not (_PACKAGE / _COMMANDS).is_dir():
        return ovaflow.__version__
    return _fingerprints()[subcommand]


@cache
def _fingerprints():
    files = {}
    for path in _PACKAGE.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            files[path.relative_to(_PACKAGE).as_posix()] = path.read_bytes()
    kept = cache_folder() / f"code-{_hash(files)}.json"
    with suppress(OSError, ValueError):
        return json.loads(kept.read_bytes())
    fingerprints = _compute(files)
    # a cache that cannot be written costs each command a second
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps(fingerprints))
        partial.replace(kept)
    return fingerprints


def _compute(files):
    parts = {}
    for name in files:
        if name.endswith(".py"):
            parts |= _parts_of(name, files[name])
    # commands run kernels of others, and the one that warms up knows every method
    modules = {name: used for name, (_, used) in parts.items() if not name.startswith(_COMMANDS)}
    starts = {_KERNELS: [name for name, used in modules.items() if "sparse/jit.py" in used]}
    for name in parts:
        if name.endswith("_command"):
            starts[name.partition(":")[2].removesuffix("_command").replace("_", "-")] = [name]
    return {title: _hash(_reached_from(names, parts, files)) for title, names in starts.items()}


def _reached_from(names, parts, files):
    """Code of some parts and of all that they use, and the templates beside it."""
    reached, waiting = {}, list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached and not name.startswith(_SILENT):
            reached[name], used = parts[name]
            waiting += used
    folders = {f"{name.rpartition('/')[0]}/templates" for name in reached}
    return reached | {name: files[name] for name in files if name.rpartition("/")[0] in folders}


def _hash(contents):
    return hashlib.blake2b(repr(sorted(contents.items())).encode(), digest_size=16).hexdigest()


def _parts_of(name, source):
    """Code of a module and what it uses; of a module of commands, those of each definition."""
    tree = _WithoutDocstrings().visit(ast.parse(source))
    imports = _imports_of(tree)
    if not name.startswith(_COMMANDS):
        return {name: (ast.unparse(tree), set(imports.values()))}
    definitions = {_title_of(node): node for node in tree.body}
    known = imports | {title: f"{name}:{title}" for title in definitions}
    parts = {}
    for title, node in definitions.items():
        words = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        parts[known[title]] = ast.unparse(node), {known[word] for word in words & known.keys()}
    return parts


class _WithoutDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node):
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node


def _title_of(node):
    target = node.targets[0] if isinstance(node, ast.Assign) else node
    return getattr(target, "id", getattr(target, "name", None))


def _imports_of(tree):
    """Parts that a module imports, by the name that they have in it."""
    imports = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    parts = {name: _part_of(dotted) for name, dotted in imports.items()}
    return {name: part for name, part in parts.items() if part}


def _part_of(dotted):
    package, *words = dotted.split(".")
    for depth in (len(words), len(words) - 1) if package == _PACKAGE.name else ():
        base = "/".join(words[:depth])
        for file in (f"{base}.py", f"{base}/__init__.py"):
            if (_PACKAGE / file).is_file():
                return f"{file}:{words[-1]}" if file.startswith(_COMMANDS) else file
    return None
