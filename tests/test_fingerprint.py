import ast
import shutil
from functools import cache
from pathlib import Path

import pytest

import ovaflow
from ovaflow import fingerprint
from ovaflow.fingerprint import code_fingerprint, kernel_fingerprint

SAME = {
    "comment": ("x = 1", "# one\nx = 1  # one"),
    "layout": ("f(1000.0, 'a', [1, 2])", 'f(\n    1e3,\n    ("a"),\n    [1, 2,],\n)'),
    "docstring": ("def f():\n    return 1", 'def f():\n    """One."""\n    return 1'),
    "docstring of a constant": ("X = 1\n'One.'", "X = 1\n'Unity.'"),
    "types of a function": ("def f(x, *y):\n    return x", "def f(x: float, *y: int) -> float:\n    return x"),
    "message": ("raise ValueError('no')", "raise ValueError(f'{1 + 1} is not one')"),
    "message with a remedy": (
        "raise InputError(f'{n} rows', path=path) from None",
        "raise InputError(f'{n:,} instances', path=path, remedy='give more') from None",
    ),
    "error made before it is raised": ("e = errors.InputError('no')", "e = errors.InputError('not so')"),
    "message in a variable": (
        "def f(n):\n    more = 'no'\n    said = f'{n} {more}'\n    raise InputError(said)",
        "def f(n):\n    more = 'none'\n    said = f'{n:,} {more}'\n    raise InputError(said)",
    ),
    "private remedy": (
        "_GO = 'on'\nraise InputError('no', remedy=_GO)",
        "_GO = 'back'\nraise InputError('no', remedy=_GO)",
    ),
    "joined message": ("raise ValueError(', '.join(['a', x]))", "raise ValueError('; '.join(['b', x]))"),
    "assertion": ("assert x, 'no'", "assert x"),
    "help": ("option('--C', default=1, help='weight')", "option('--C', default=1)"),
    "description": ("C: float = Field(1, description='weight')", "C: float = Field(1, description=f'its {weight}')"),
    "what is told": ("click.echo(f'{n} rows')", "click.echo(f'{n:,} rows')"),
    "warning": ("_warn('no')", "_warn('not so')"),
    "progress": ("Progress('train', n, 'labels')", "Progress(f'train {name}', n, 'label')"),
}

DIFFERENT = {
    "constant": ("x = 1", "x = 2"),
    "kind of number": ("x = 1", "x = 1.0"),
    "formula": ("x = a - b", "x = b - a"),
    "order": ("f()\ng()", "g()\nf()"),
    "string that selects": ("if loss == 'logistic': pass", "if loss == 'hinge': pass"),
    "text that is written": ("file.write('C')", "file.write('D')"),
    "bytes of an error": ("raise Found(b'C')", "raise Found(b'D')"),
    "kind of error": ("raise ValueError('no')", "raise KeyError('no')"),
    "value of an error": ("raise Exit('no', 1)", "raise Exit('no', 2)"),
    "decorator": ("@kernel\ndef f(): pass", "@strict_kernel\ndef f(): pass"),
    "default of an option": ("option('--C', default=1, help='C')", "option('--C', default=2, help='C')"),
    "type of a field": ("class A:\n    C: float", "class A:\n    C: int"),
    "bounds of a field": ("C: float = Field(1, gt=0, description='C')", "C: float = Field(1, ge=0, description='C')"),
    "text": ("x = 'a'", "x = 'b'"),
    "text that other modules may use": ("GO = 'on'\nraise ValueError(GO)", "GO = 'back'\nraise ValueError(GO)"),
    "text of a message that also selects": (
        "def f(x):\n    kind = 'a'\n    if kind in x:\n        raise ValueError(kind)",
        "def f(x):\n    kind = 'b'\n    if kind in x:\n        raise ValueError(kind)",
    ),
    "argument of what is called for a message": ("print(save(x, 'a'))", "print(save(x, 'b'))"),
    "argument of what returns a figure to say": (
        "def f(x):\n    size = save(x, 'a')\n    print(size)",
        "def f(x):\n    size = save(x, 'b')\n    print(size)",
    ),
    "variable given to what is called for a message": (
        "def f(x):\n    kind = 'a'\n    print(save(x, kind))",
        "def f(x):\n    kind = 'b'\n    print(save(x, kind))",
    ),
    "field of a class": ("class A:\n    kind = 'a'", "class A:\n    kind = 'b'"),
}


def digests(*sources):
    trees = map(ast.parse, sources)
    return {fingerprint._code(tree, fingerprint._only_said(tree)) for tree in trees}


@pytest.mark.parametrize("change", SAME)
def test_what_computes_the_same(change):
    assert len(digests(*SAME[change])) == 1


@pytest.mark.parametrize("change", DIFFERENT)
def test_what_computes_something_else(change):
    assert len(digests(*DIFFERENT[change])) == 2


PARSERS = {name: cache(getattr(fingerprint, name)) for name in ("_parsed", "_functions")}
"""Each source is parsed once for all tests."""


def forget():
    for function in (fingerprint._modules, code_fingerprint, kernel_fingerprint):
        function.cache_clear()


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the package, whose fingerprints are asked for."""
    package = tmp_path / "ovaflow"
    shutil.copytree(Path(ovaflow.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("OVAFLOW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fingerprint, "_PACKAGE", package)
    for name, parser in PARSERS.items():
        monkeypatch.setattr(fingerprint, name, parser)
    yield package
    forget()


def fingerprints(*commands):
    """Those of commands and of the kernels, as another process would find them."""
    forget()
    return [*map(code_fingerprint, commands), kernel_fingerprint()]


CHANGES = [
    (["solver/newton.py"], [True, False, False, True]),
    (["report/templates/style.css"], [False, False, True, False]),
    (["console/errors.py", "__init__.py"], [False] * 4),
]


def test_a_change_reaches_the_steps_that_execute_it(copied):
    commands = ("train-shard", "prepare", "report")
    before = fingerprints(*commands)
    for names, expected in CHANGES:
        for name in names:
            with open(copied / name, "a") as file:
                file.write("\nCHANGED = True\n" if name.endswith(".py") else "\n")
        after = fingerprints(*commands)
        assert [a != b for a, b in zip(before, after, strict=True)] == expected, names
        before = after


def test_digests_are_kept(copied, tmp_path, monkeypatch):
    parsed = fingerprints("prepare")
    [kept] = (tmp_path / "cache").iterdir()
    text = kept.read_text()
    with monkeypatch.context() as context:
        context.setattr(fingerprint, "_parsed", None)
        assert fingerprints("prepare") == parsed
    kept.write_text(text.replace('"', "'"))
    assert fingerprints("prepare") == parsed
    assert kept.read_text() == text
    shutil.rmtree(kept.parent)
    kept.parent.write_text("not a folder")
    assert fingerprints("prepare") == parsed


def test_fingerprints_are_of_this_source_and_repeat():
    assert code_fingerprint("plan") == code_fingerprint("plan")
    assert code_fingerprint("plan") != code_fingerprint("means")
    assert len(kernel_fingerprint()) == 32


def test_imports_are_followed():
    imported = fingerprint._modules()["solver/newton.py"][1]
    assert {"__init__.py", "solver/__init__.py", "sparse/csr.py"} <= set(imported)
    assert "numba" not in str(imported)


def test_unknown_subcommand():
    with pytest.raises(ValueError, match="no-such"):
        code_fingerprint("no-such")


def test_commands_of_one_module_are_told_apart(copied):
    def change(name, before, after):
        path = copied / "cli" / name
        source = path.read_text()
        assert before in source
        path.write_text(source.replace(before, after))

    commands = ("means", "plan", "train-shard")
    before = fingerprints(*commands)
    change("training.py", "loads.mean() - 1", "loads.mean() - 1.0")
    plan = fingerprints(*commands)
    assert [a != b for a, b in zip(before, plan, strict=True)] == [False, True, False, False]
    # an option's variable and a helper count where they are used
    change("training.py", "model = open_model(path)", "model = open_model(str(path))")
    assert [a != b for a, b in zip(plan, fingerprints(*commands), strict=True)] == [False, False, True, False]
