"""Colours of the page: readable in both themes, by WCAG's contrast."""

import re
from pathlib import Path

import pytest
from contrast import compute_contrast

from ovaflow.report import page

STYLE = (Path(page.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
DARK_PART = re.search(
    r"@media screen and \(prefers-color-scheme: dark\) \{(.*?)\n\}", STYLE, re.DOTALL
)[1]
LIGHT_PART = STYLE.split("@media", 1)[0]


def read_colours(style: str) -> dict[str, str]:
    """Read the CSS variables of colours."""
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", style))


LIGHT = read_colours(LIGHT_PART)
DARK = read_colours(DARK_PART)


def compute_theme_contrast(theme: dict[str, str], first: str, second: str) -> float:
    """Compute the contrast of two colours of a theme."""
    first_colour = bytes.fromhex(theme[first].removeprefix("#"))
    second_colour = bytes.fromhex(theme[second].removeprefix("#"))
    return compute_contrast(first_colour, second_colour)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_lines_can_be_read(theme) -> None:
    for text in ("ink", "muted", "accent", "good", "bad"):
        assert compute_theme_contrast(theme, text, "paper") >= 4.5, text
    assert compute_theme_contrast(theme, "best-ink", "best") >= 4.5
    for number in range(8):
        assert compute_theme_contrast(theme, f"series-{number}", "paper") >= 3, number
