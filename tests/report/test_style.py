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
LIGHT, DARK = (
    dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", part))
    for part in (STYLE.split("@media", 1)[0], DARK_PART)
)


def against(theme, one, other):
    return compute_contrast(*(bytes.fromhex(theme[name][1:]) for name in (one, other)))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_lines_can_be_read(theme) -> None:
    for text in ("ink", "muted", "accent", "good", "bad"):
        assert against(theme, text, "paper") >= 4.5, text
    assert against(theme, "best-ink", "best") >= 4.5
    for number in range(8):
        assert against(theme, f"series-{number}", "paper") >= 3, number
