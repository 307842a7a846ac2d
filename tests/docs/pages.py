"""The documentation as tests read it: pages, blocks of code, and the comments before them."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = {ROOT / "docs" / "reference" / f"{name}.md" for name in ("config", "commands")}

_BLOCK = re.compile(
    r"^(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)\n(?P<code>.*?)^(?P=fence)\s*$",
    re.DOTALL | re.MULTILINE,
)
_MARK = re.compile(
    r"<!--\s*(?P<kind>not run|no config|background|in the "
    r"tree)(?::\s*(?P<reason>[^>]*?))?\s*-->\s*\Z"
)


class Block(NamedTuple):
    line: int  # of its fence
    language: str
    title: str
    code: str
    # "not run", "no config", "background" or "in the tree", from the comment before it
    mark: str | None
    reason: str | None


def page_name(page) -> str:
    """Return the path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


def read_blocks(page) -> list[Block]:
    """Return the blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    blocks = []
    for match in _BLOCK.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        title = re.search(r'title="([^"]*)"', rest)
        mark = _MARK.search(text[: match.start()])
        line = text.count("\n", 0, match.start()) + 1
        blocks.append(
            Block(
                line=line,
                language=language,
                title=title[1] if title else "",
                code=match["code"],
                mark=mark["kind"] if mark else None,
                reason=mark["reason"] if mark else None,
            )
        )
    return blocks


def read_prose(page) -> str:
    """Return a page's text without its code."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    return re.sub(r"`[^`\n]*`|<!--.*?-->", "", text, flags=re.DOTALL)


def same_output(expected, written) -> bool:
    """Return whether a page shows what a command wrote.

    Decimals may differ by two hundredths, bars and runs of spaces do not count, ``…`` stands for
    anything on a line, a line of ``…`` for any lines.
    """
    shown = _lines(expected)
    lines = _lines(written)
    while shown:
        if shown[0] == "…":
            shown.pop(0)
            if not shown:
                return True
            while lines and not _same_line(shown[0], lines[0]):
                lines.pop(0)
        if not lines or not _same_line(shown.pop(0), lines.pop(0)):
            return False
    return not lines


def _lines(text) -> list[str]:
    bare = re.sub("[▏▎▍▌▋▊▉█─]", " ", text)
    lines = [" ".join(line.split()) for line in bare.splitlines()]
    return [line for line in lines if line]


def _same_line(expected, written) -> bool:
    number = r"[+-]?\d+\.\d+(?:e-?\d+)?"
    pattern = ""
    values = []
    for piece in re.split(f"({number}|…)", expected):
        if piece == "…":
            pattern += ".*?"
        elif re.fullmatch(number, piece):
            pattern += f"({number})"
            values.append(float(piece))
        else:
            pattern += re.escape(piece)
    match = re.fullmatch(pattern, written)
    if match is None:
        return False
    found = [float(number) for number in match.groups()]
    pairs = zip(values, found, strict=True)
    return all(abs(a - b) <= 0.02 * max(1.0, abs(a)) for a, b in pairs)
