"""Numbers and texts from the data as a reader of the page sees them."""

import math
import unicodedata
from collections.abc import Callable
from typing import Any

from ovaflow.console.progress import format_duration

MISSING = "–"  # shown in place of a figure that was not recorded

# Unicode categories of letters that cannot be shown: control characters, surrogates, private use
# and unassigned
_HIDDEN_CATEGORIES = {"Cc", "Cs", "Co", "Cn"}
# letters that change the direction of the text around them
_DIRECTION_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _is_nan(number: float) -> bool:
    return isinstance(number, float) and math.isnan(number)


def count(number: float | None) -> str:
    """Format a number of things: ``35,116``."""
    if number is None or _is_nan(number):
        return MISSING
    return f"{round(number):,}"


def percent(fraction: float | None, digits: int = 2) -> str:
    """Format a fraction in percent, without the sign: ``62.62``."""
    if fraction is None or _is_nan(fraction):
        return MISSING
    return f"{100 * fraction:.{digits}f}"


def decimal(number: float | None) -> str:
    """Format a number with about three significant digits: ``0.043``, ``67.2`` or ``1,240``."""
    if number is None or _is_nan(number):
        return MISSING
    if number == 0 or not math.isfinite(number):
        return f"{number:g}"
    if abs(number) < 1e-3:
        return f"{number:.1e}"
    digits = max(0, 2 - math.floor(math.log10(abs(number))))
    return f"{number:,.{min(digits, 3)}f}"


def size(n_bytes: float | None) -> str:
    """Format a number of bytes: ``640 B``, ``1.37 MiB`` or ``24.0 GiB``."""
    if n_bytes is None or _is_nan(n_bytes):
        return MISSING
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            if unit == "B" or n_bytes >= 100:
                return f"{n_bytes:.0f} {unit}"
            return f"{decimal(n_bytes)} {unit}"
        n_bytes /= 1024
    return f"{decimal(n_bytes)} TiB"


def duration(seconds: float | None) -> str:
    """Format seconds: ``12.3 ms``, ``4.21 s``, ``2 min 03 s`` or ``3 h 20 min``."""
    if seconds is None or _is_nan(seconds):
        return MISSING
    if 0 < seconds < 1:
        return f"{decimal(1000 * seconds)} ms"
    if round(seconds) < 60:
        return f"{decimal(seconds)} s"
    return format_duration(seconds)


def milliseconds(number: float | None) -> str:
    """Format milliseconds: ``0.43 ms``."""
    if number is None or _is_nan(number):
        return MISSING
    return f"{decimal(number)} ms"


FORMAT_BY_UNIT: dict[str, Callable[[Any], str]] = {"fraction": percent, "labels": decimal}
"""Function that formats a metric, by the unit of the metric."""


def plain(text: str, limit: int = 120) -> str:
    """Shorten a text from the data to one line, and replace letters that cannot be shown.

    Letters that change the direction of text are removed. Templates escape the result for HTML.
    """
    words = " ".join(text[: 4 * limit].split())
    letters = []
    for letter in words:
        if letter in _DIRECTION_OVERRIDES:
            continue
        if unicodedata.category(letter) in _HIDDEN_CATEGORIES:
            letters.append("\ufffd")
        else:
            letters.append(letter)
    shown = "".join(letters)
    if len(shown) <= limit and len(text) <= 4 * limit:
        return shown
    return shown[: limit - 1].rstrip() + "…"
