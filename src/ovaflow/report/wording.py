"""Numbers, and texts from the data, as a reader of the page sees them."""

import math
import unicodedata

from ovaflow.console.progress import format_duration

MISSING = "–"  # a figure that was not recorded

_HIDDEN = {"Cc", "Cs", "Co", "Cn"}
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _absent(number):
    return number is None or (isinstance(number, float) and math.isnan(number))


def count(number):
    """``35,116``."""
    return MISSING if _absent(number) else f"{round(number):,}"


def percent(fraction, digits=2):
    """A fraction in percent, without the sign: ``62.62``."""
    return MISSING if _absent(fraction) else f"{100 * fraction:.{digits}f}"


def decimal(number):
    """About three significant digits: ``0.043``, ``5.31``, ``67.2`` or ``1,240``."""
    if _absent(number):
        return MISSING
    if number == 0 or not math.isfinite(number):
        return f"{number:g}"
    if abs(number) < 1e-3:
        return f"{number:.1e}"
    digits = max(0, 2 - math.floor(math.log10(abs(number))))
    return f"{number:,.{min(digits, 3)}f}"


def size(n_bytes):
    """``640 B``, ``1.37 MiB`` or ``24.0 GiB``."""
    if _absent(n_bytes):
        return MISSING
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return (
                f"{n_bytes:.0f} {unit}"
                if unit == "B" or n_bytes >= 100
                else f"{decimal(n_bytes)} {unit}"
            )
        n_bytes /= 1024
    return f"{decimal(n_bytes)} TiB"


def duration(seconds):
    """``12.3 ms``, ``4.21 s``, ``2 min 03 s`` or ``3 h 20 min``."""
    if _absent(seconds):
        return MISSING
    if 0 < seconds < 1:
        return f"{decimal(1000 * seconds)} ms"
    return f"{decimal(seconds)} s" if round(seconds) < 60 else format_duration(seconds)


FORMAT_BY_UNIT = {"fraction": percent, "labels": decimal}
"""How metrics are shown, by their unit."""


def milliseconds(number):
    """``0.43 ms``."""
    return MISSING if _absent(number) else f"{decimal(number)} ms"


def plain(text, limit=120):
    """A text from the data on one line, without what changes the text around it; templates escape
    it for HTML.
    """
    words = " ".join(text[: 4 * limit].split())
    shown = "".join(
        "\ufffd" if unicodedata.category(letter) in _HIDDEN else letter
        for letter in words
        if letter not in _OVERRIDES
    )
    return (
        shown
        if len(shown) <= limit and len(text) <= 4 * limit
        else shown[: limit - 1].rstrip() + "…"
    )
