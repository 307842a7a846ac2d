import pytest

from ovaflow.console.errors import InputError


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"message": "no JSON"}, "no JSON"),
        ({"message": "no JSON", "path": "a"}, "a: no JSON"),
        ({"message": "no JSON", "path": "a", "line": 3}, "a, line 3: no JSON"),
        (
            {"message": "no JSON", "path": "a", "line": 3, "remedy": "write it"},
            "a, line 3: no JSON; write it",
        ),
        ({"message": "two\nlines", "path": "a\x1b[2Kb"}, "a\\x1b[2Kb: two lines"),
    ],
)
def test_an_error_is_one_line(arguments, expected) -> None:
    assert str(InputError(**arguments)) == expected
