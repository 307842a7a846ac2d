"""One spelling everywhere: British words, with -ize as the names of settings have it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ["benchmarks", "config", "docs", "profiles", "src", "tests", "workflow"]
ENDINGS = {".css", ".html", ".j2", ".js", ".json", ".md", ".py", ".rst", ".smk", ".yaml"}

STEMS = (
    "binar|capital|categor|character|general|initial|maxim|memor|minim|normal|optim|organ|penal"
    "|priorit|quant|random|real|recogn|regular|serial|special|standard|summar|synchron|token"
    "|util|vector|visual"
)
# the option and the setting `optimise` are a promise to users
OTHER_SPELLING = re.compile(
    rf"\b(?!optimise\b)\w*(?:{STEMS})is(?:e|ed|es|er|ers|ing|ation|ations)\b"
    r"|\b(?:(?<!-)behavior(?!:)|favorite|labeled|labeling|modeling)s?\b",
    re.IGNORECASE,
)


def read_sources() -> list[Path]:
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in ENDINGS]
    return files


@pytest.mark.parametrize(
    ("word", "is_other"),
    [("regularisation", True), ("_minimise", True), ("optimise", False), ("promise", False)],
)
def test_other_spellings_are_known(word, is_other) -> None:
    assert bool(OTHER_SPELLING.search(f"the {word} of a word")) == is_other


def test_words_have_one_spelling() -> None:
    found = []
    for path in read_sources():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for word in OTHER_SPELLING.findall(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {word}")
    assert [each for each in found if "test_spelling.py" not in each] == []
