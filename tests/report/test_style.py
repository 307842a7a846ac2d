"""Colours of the page: readable in both themes, by WCAG's contrast."""

import re
from pathlib import Path

import pytest

from ovaflow.report import page

STYLE = (Path(page.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
DARK_PART = re.search(r"@media screen and \(prefers-color-scheme: dark\) \{(.*?)\n\}", STYLE, re.DOTALL)[1]
LIGHT, DARK = (
    dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", part)) for part in (STYLE.split("@media", 1)[0], DARK_PART)
)


def luminance(colour):
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_lines_can_be_read(theme):
    for text in ("ink", "muted", "accent", "good", "bad"):
        assert contrast(theme[text], theme["paper"]) >= 4.5, text
    assert contrast(theme["best-ink"], theme["best"]) >= 4.5
    for number in range(8):
        assert contrast(theme[f"series-{number}"], theme["paper"]) >= 3, number
