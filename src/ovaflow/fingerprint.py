"""Hashes of what ovaflow's own code computes: they tell which results and compiled kernels are of older code.

A module counts with its parsed code, without comments, layout, docstrings, the types of arguments and the texts of
messages: strings in ``raise`` statements and in calls that say something, or set to variables that end only there.
Where that is in doubt, a string counts. Of the command line each function counts by itself, with what it imports, so
that commands share modules and no fingerprints. Parsing every module takes seconds, so the digests are kept in the
cache folder, under a name made from the bytes of all sources.
"""

import ast
import hashlib
import json
import os
import re
from collections import defaultdict
from contextlib import suppress
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent
_MODULE = re.compile(r"ovaflow(\.\w+)+$")

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
"""Modules of which nothing reaches an artifact but the version's name: they speak, or place a job on its machine."""

_BY_FUNCTION = "cli/"
"""Modules that count function by function."""

_SPEAKERS = {"InputError", "Progress", "echo", "fail", "print", "warn"}
"""Functions that say something; texts given to them count no more than those of errors that are raised."""

_SAID = {"description", "help", "metavar", "remedy", "short_help"}
"""Arguments that say something, of any function."""

_LEFT_OUT = {"ctx", "kind", "returns", "type_comment"}
"""Fields of parsed code that change no result: they follow from others, or are types of functions."""


@cache
def kernel_fingerprint():
    """Hash, 32 hexadecimal digits, of every module that compiles kernels and of all that those modules import."""
    # commands run kernels of others, and the one that warms up knows every method
    imports = {name: imported for name, (_, imported) in _modules().items() if not name.startswith("cli/")}
    users = [name for name, imported in imports.items() if "sparse/jit.py" in imported]
    return _digest(_closure(users))


@cache
def code_fingerprint(subcommand):
    """Hash, 32 hexadecimal digits, of the function of a subcommand, all that it imports and their templates.

    A rule of the workflow carries the fingerprint of its subcommand, so that a change of the code re-runs exactly the
    steps that execute it.
    """
    end = f":{subcommand.replace('-', '_')}_command"
    found = [name for name in _modules() if name.endswith(end)]
    if not found:
        raise ValueError(f"no subcommand {subcommand!r}")
    return _digest(_closure(found))


def _digest(names):
    folders = {(_PACKAGE / name).parent / "templates" for name in names if ":" not in name}
    templates = sorted(path for folder in folders for path in folder.glob("*") if path.is_file())
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(names):
        digest.update(f"{name}\0{_modules()[name][0]}\0".encode())
    for path in templates:
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _closure(names):
    reached, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached and not name.startswith(_SILENT):
            reached.add(name)
            waiting.extend(_modules()[name][1])
    return reached


@cache
def _modules():
    """Digest of its code and imported modules, of each module's path below the package."""
    sources = {path.relative_to(_PACKAGE).as_posix(): path.read_bytes() for path in sorted(_PACKAGE.rglob("*.py"))}
    digest = hashlib.blake2b(digest_size=16)
    for name, source in sources.items():
        digest.update(b"%b\0%d\0%b" % (name.encode(), len(source), source))
    folder = Path(os.environ.get("OVAFLOW_CACHE") or Path.home() / ".cache" / "ovaflow")
    kept = folder / f"code-{digest.hexdigest()}.json"
    with suppress(OSError, ValueError):
        return json.loads(kept.read_bytes())
    modules = {}
    for name, source in sources.items():
        modules |= _functions(name, source) if name.startswith(_BY_FUNCTION) else {name: _parsed(source)}
    # a cache that cannot be written costs each command two seconds
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(modules))
        written.replace(kept)
    return modules


def _parsed(source):
    tree = ast.parse(source)
    return _hashed(tree, _only_said(tree)), sorted(name for names in _imports(tree).values() for name in names)


def _hashed(node, words):
    return hashlib.blake2b(_code(node, words).encode(), digest_size=16).hexdigest()


def _imports(tree):
    """Sources that a tree imports, by the name that they have in it."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(alias.asname or alias.name).split(".")[0]: _sources_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: _sources_of(f"{node.module}.{alias.name}") for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODULE.match(node.value):
            # the table of methods names their modules, which are imported when they are used
            found[node.value] = _sources_of(node.value)
    return found


def _functions(name, source):
    """Digest and imports of each function and variable of a module, such as ``"cli/models.py:merge_command"``."""
    tree = ast.parse(source)
    words, own = _only_said(tree), {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) or _assigned(node):
            own.setdefault(getattr(node, "name", None) or _assigned(node), []).append(node)
    imported = _imports(tree)
    found = {}
    for title, nodes in own.items():
        used = {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)} - {title}
        reached = {source for word in used & imported.keys() for source in imported[word]}
        reached |= {source for node in nodes for names in _imports(node).values() for source in names}
        reached |= {f"{name}:{word}" for word in used & own.keys()}
        found[f"{name}:{title}"] = "".join(_hashed(node, words) for node in nodes), sorted(reached)
    return found


def _sources_of(dotted):
    """Sources that an import of a name executes, those of the packages around it first."""
    package, *parts = dotted.split(".")
    if package != _PACKAGE.name:
        return []
    names = ["__init__.py"]
    for depth in range(1, len(parts) + 1):
        base = "/".join(parts[:depth])
        names += [f"{base}/__init__.py", f"{base}.py"]
    names = [name for name in names if (_PACKAGE / name).is_file()]
    by_function = names[-1].startswith(_BY_FUNCTION) and not names[-1].endswith("__init__.py")
    return [*names[:-1], f"{names[-1]}:{parts[-1]}"] if by_function else names


def _code(node, words, context=None):
    """What parsed code computes, as text; in contexts that are ``words`` without the strings."""
    if isinstance(node, list):
        return f"[{','.join(filter(None, (_code(each, words, context) for each in node)))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if _is_docstring(node) or (isinstance(node, ast.keyword) and node.arg in _SAID):
        return ""
    if context in words and isinstance(node, ast.JoinedStr | ast.Constant) and _is_text(node):
        return ""
    context = _context_in(node, context)
    left_out = _LEFT_OUT | {ast.arg: {"annotation"}, ast.Assert: {"msg"}}.get(type(node), set())
    # empty fields are left out, since newer versions of Python have more of them
    fields = {name: value for name, value in ast.iter_fields(node) if value not in (None, []) and name not in left_out}
    inside = ",".join(f"{name}={_code(value, words, context)}" for name, value in fields.items())
    return f"{type(node).__name__}({inside})"


def _context_in(node, context):
    """Where values below a node go: ``"raise"`` and ``"say()"``, into a variable (its name), or elsewhere (None)."""
    if isinstance(node, ast.Raise):
        return "raise"
    if isinstance(node, ast.keyword) and node.arg in _SAID:
        return "say()"
    if not isinstance(node, ast.Call):
        return context or _assigned(node)
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    if name.lstrip("_") in _SPEAKERS or context == "raise":
        return "say()"
    return context if name in ("format", "join") else None


def _only_said(tree):
    """Contexts in which strings are for people: messages, and variables that end nowhere else.

    Only variables of functions, and those private to the module, can be seen to end nowhere else.
    """
    uses, elsewhere = defaultdict(set), set()

    def visit(node, context, local):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            uses[node.id].add(context)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            elsewhere.update(node.names)
        elif isinstance(node, ast.ClassDef):
            elsewhere.update(map(_assigned, node.body))
        elif not local and not (_assigned(node) or "_").startswith("_"):
            elsewhere.add(_assigned(node))
        context, local = _context_in(node, context), local or isinstance(node, ast.FunctionDef)
        for child in ast.iter_child_nodes(node):
            visit(child, context, local)

    visit(tree, None, False)
    words, before = uses.keys() - elsewhere, None
    while words != before:
        before, words = words, {name for name in words if uses[name] <= {"raise", "say()", *words}}
    return {"raise", "say()", *words}


def _assigned(node):
    """The one variable that a statement sets."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def _is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and _is_text(node.value)


def _is_text(constant):
    return isinstance(constant, ast.JoinedStr) or isinstance(constant.value, str)
