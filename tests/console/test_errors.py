"""Every error that a person can mend says what to do next."""

import ast

import pytest
from pipeline_place import ROOT

from ovaflow.console.errors import TELLS, InputError

SAID_ELSEWHERE = {
    "text": "another InputError, without the values of environment variables",
    "f'{error}' if refusal is None else f'{refusal}; asked directly: {error}'": "other InputErrors",
    "str(error)": "another InputError, or a library's sentence, with its place in the file",
    "explain(error, merged)": "says what is legal for a key, by the schema",
    "_first_problem(error)": "the same for the catalogue",
}
"""Messages that no word of this check shows to be complete."""


def errors_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "InputError":
            yield node


def tells(call):
    given = {keyword.arg for keyword in call.keywords}
    message = ast.unparse(call.args[0])
    return "remedy" in given or "line" in given or message in SAID_ELSEWHERE or TELLS.search(message) is not None


def test_every_error_says_what_to_do_next():
    calls = [(path, call) for path in (ROOT / "src").rglob("*.py") for call in errors_of(path)]
    assert len(calls) > 200
    silent = [f"{path}:{call.lineno}: {ast.unparse(call.args[0])}" for path, call in calls if not tells(call)]
    assert silent == [], "give them a remedy"


@pytest.mark.parametrize(
    ("given", "theirs"),
    [
        ({"message": "no JSON", "path": "a", "line": 3}, "a, line 3: no JSON; mend this line"),
        ({"message": "expected a number", "path": "a", "line": 3}, "a, line 3: expected a number"),
        ({"message": "no JSON", "path": "a", "line": 3, "remedy": "write it"}, "a, line 3: no JSON; write it"),
        ({"message": "no JSON", "path": "a"}, "a: no JSON"),
    ],
)
def test_a_line_is_mended_where_nothing_else_is_said(given, theirs):
    assert str(InputError(**given)) == theirs
