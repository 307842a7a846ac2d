"""Numbers and texts from the data as a reader of the page sees them."""

import math
import unicodedata
from collections.abc import Callable
from typing import Any, NamedTuple

from ovaflow.console.progress import format_duration

MISSING = "–"  # shown in place of a number that was not recorded

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
    return _drop_sign_of_zero(f"{100 * fraction:.{digits}f}")


def short_percent(fraction: float | None) -> str:
    """Format a fraction in percent with one digit after the point: ``62.6``."""
    return percent(fraction, 1)


def points(difference: float) -> str:
    """Format a difference of two fractions in percentage points: ``+1.2``, or ``0.0``."""
    return _drop_sign_of_zero(f"{100 * difference:+.1f}")


def points_with_error(difference: float, error: float) -> str:
    """Format a difference of two fractions with two standard errors: ``+1.2 ± 0.4``."""
    return f"{points(difference)} ± {short_percent(2 * error)}"


def _drop_sign_of_zero(number: str) -> str:
    """Remove the sign of a number that was rounded to zero."""
    if number.strip("+-0.") == "":
        return number.lstrip("+-")
    return number


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


class MetricFormat(NamedTuple):
    """Functions that format a metric."""

    full: Callable[[Any], str]
    short: Callable[[Any], str]  # also of half of its interval


FORMAT_BY_UNIT = {
    "fraction": MetricFormat(percent, short_percent),
    "labels": MetricFormat(decimal, decimal),
}
"""The format of a metric, by its unit."""


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
