"""What the cell of a table means: a text, a label or several, a time, or nothing."""

import ast
import json
import math
import re
import sys
import unicodedata
from datetime import UTC, date, datetime, timedelta

import numpy as np

from ovaflow.reading.streams import clean_text

MISSING_WORDS = (
    "nan",
    "NaN",
    "NAN",
    "None",
    "NULL",
    "Null",
    "null",
    "N/A",
    "n/a",
    "#N/A",
    "<NA>",
    "NaT",
    "-",
)
"""How programs write that there is nothing; none is a name."""
LABELS_ARE_ONE_HOT = "one-hot"
LABELS_ARE_NAMES = "names"
"""What cells of labels hold: whether each of a row of labels is one, or names."""

_TRUE = frozenset({"1", "true", "yes", "y", "t", "x"})
_FALSE = frozenset({"0", "false", "no", "n", "f", ""})


def parse_text(content):
    """Text of a string, a number, None, or a list of them."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return " ".join(filter(None, map(parse_text, content)))
    if not isinstance(content, int | float) or content in (math.inf, -math.inf):
        raise ValueError(f"a text is {content!r:.60}, neither words nor a finite number")
    # tables have nan where a number is missing
    return str(content) if content == content else ""


def parse_number(content):
    """A number, nan where there is none."""
    if content is None or (isinstance(content, str) and not content.strip()):
        return math.nan
    try:
        number = float(content)
    except (TypeError, ValueError, OverflowError):
        written = str(content).strip()
        remedy = "write one, or leave the cell empty"
        if _DECIMAL_COMMA.fullmatch(written):
            remedy = f"write a point for the decimal comma: {written.replace(',', '.')}"
        raise ValueError(f"{content!r:.60} is not a number", remedy) from None
    if abs(number) > LARGEST_NUMBER:
        raise ValueError(
            f"{content!r:.60} is beyond {LARGEST_NUMBER:g}",
            "leave the cell empty if there is no number",
        )
    return number


LARGEST_NUMBER = 1e15
"""Squares of numbers up to here are finite in float32."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")


def parse_category(content):
    """The name of a category, empty where there is none; 3 and 3.0 are one."""
    whole = isinstance(content, float) and content.is_integer()
    # there are few, in many records
    return sys.intern(clean_name(parse_text(int(content) if whole else content)))


def parse_vector(content):
    """Numbers of a list, or of one that is written as JSON: float32 (d,)."""
    try:
        vector = np.asarray(
            json.loads(content) if isinstance(content, str) else content, np.float32
        )
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise ValueError(f"{content!r:.60} is not a vector of finite numbers")
    return vector


def parse_group(content):
    """The name of a group; empty where there is none."""
    missing = content is None or content != content
    return "" if missing else clean_text(str(content)).strip()


def parse_weight(content):
    """What a record weighs: a number above 0."""
    written = parse_group(content)
    try:
        weight = float(written)
    except ValueError:
        weight = math.nan
    if not _LIGHTEST <= weight <= _HEAVIEST:
        value = repr(written[:60]) if written else "empty"
        message = f"weight_column is {value}, not a number above 0"
        raise ValueError(message, "write what the record weighs, 1 for one like any other")
    return weight


_LIGHTEST = float(np.finfo(np.float32).tiny)
_HEAVIEST = float(np.finfo(np.float32).max)


def parse_time(content):
    """A number, or an ISO date or time as a year with its fraction; None without a value."""
    written = content.isoformat() if isinstance(content, date) else str(content).strip()
    if content is None or not written or written in MISSING_WORDS:
        return None
    try:
        number = float(written)
    except ValueError:
        number = _year_of(written)
    if not math.isfinite(number):
        raise ValueError(f"{written:.60} cannot be compared")
    return number


_PARTS = {
    **dict.fromkeys(("train", "training"), "train"),
    "test": "test",
    **dict.fromkeys(("dev", "val", "valid", "validation"), "dev"),
}


def parse_split_part(content):
    """``train``, ``test`` or ``dev``, as a column of parts has it."""
    written = parse_group(content)
    if written.casefold() not in _PARTS:
        value = repr(written[:60]) if written else "empty"
        raise ValueError(
            f"split_column is {value}, not train, test or dev; for numbers and dates set split: last"
        )
    return _PARTS[written.casefold()]


_MONTH = re.compile(r"\d{4}-\d\d")


def _year_of(written):
    """2020.5 or nearly so for the middle of the year 2020."""
    day = "-01" if _MONTH.fullmatch(written) else ""
    try:
        time = datetime.fromisoformat(written + day)
        if time.tzinfo is not None:
            time = time.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        message = f"{written!r:.60} is neither a number nor an ISO date such as 2024-05-31"
        raise ValueError(message) from None
    return time.year + (time - datetime(time.year, 1, 1)) / timedelta(366)


_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Characters that are not seen and mean nothing in a name; joiners, which do, are not among them.
"""


def clean_name(name):
    """A label's name as all files have it: composed characters, none that is invisible, and single
    spaces.
    """
    if name.isascii() and name.isalnum():
        return name
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFC", clean_text(name))).split())


def parse_truth(content):
    """Whether a cell says yes; None if it says neither yes nor no."""
    if content is None or content != content:
        return False
    written = str(content).strip().casefold().removesuffix(".0")
    if written in _TRUE:
        return True
    return False if written in _FALSE or str(content).strip() in MISSING_WORDS else None


# [Festschrift] and (a name) are labels; a list begins with a quoted name, a list, an object, or
# ends at once
_LIST = re.compile(r"""\[\s*([uUbB]?["']|[\[{(]|\]$)""")
_TUPLE_OR_SET = re.compile(r"""[({]\s*([uUbB]?["'[({)]|-?\d[\d.]*\s*,)""")
_OBJECT = re.compile(r"""\{\s*(["'][^"']*["']\s*:|-?\d+\s*:|\})""")
_ARRAY = re.compile(r"\{.*\}", re.DOTALL)
_NUMBER = r"(?:-?\d[\d.e+-]*|[Tt]rue|[Ff]alse|null|None|[Nn]a[Nn]|\.\.\.)"
_PLAIN_LIST = re.compile(rf"\[(\s*{_NUMBER}(?:\s+{_NUMBER})*\s*|[^\[\]]*,[^\[\]]*)\]", re.DOTALL)
_TAGS = re.compile(r"(?:<[^<>]+>[\s,]*)+")
_PRINTED = re.compile(
    r"(?:array|Index|frozenset|set|deque|dict_keys|dict_values)\((.*?)(?:,\s*(?:dtype|shape|length|name|maxlen)=.*)?\)",
    re.DOTALL,
)
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


class NotAListError(ValueError):
    """What begins like a list may still be a name."""


def parse_list(content):
    """What a cell holds if it is written as a list, a set, an object or tags; None if it is not.

    Known are JSON, Python, PostgreSQL's arrays, what NumPy and pandas print, and ``<a><b>``.
    """
    printed = _PRINTED.fullmatch(content) if content[-1:] == ")" else None
    if printed:
        content = printed[1].strip() or "[]"
    if content[:1] not in _BEGINNINGS or (_BRACKETS.match(content) and content[-1] not in "])}"):
        return None
    if _LIST.match(content) or _OBJECT.match(content) or _TUPLE_OR_SET.match(content):
        return _literal(content)
    if _ARRAY.fullmatch(content):
        return _of_postgresql(content)
    if _TAGS.fullmatch(content) and content != _NA:
        return re.findall("<([^<>]+)>", content)
    plain = _PLAIN_LIST.fullmatch(content)
    return _of_words(plain[1].strip()) if plain else None


_BEGINNINGS = frozenset("[({<")
_BRACKETS = re.compile(r"[\[({]{2}")
_NA = "<NA>"  # pandas' word for nothing, which is no tag


def _of_words(content):
    """What is in a list without quotes: numbers stay as they are written, but for NumPy's ``3.``."""
    words = list(map(str.strip, content.split("," if "," in content else None)))
    _require_whole(words)
    words = [
        word[:-1] if word.endswith(".") and word[:-1].lstrip("-").isdigit() else word
        for word in words
    ]
    return [None if word in ("null", "None", "nan", "NaN") else word for word in words]


def _literal(content):
    names = _QUOTED.findall(content)
    between = _QUOTED.sub("", content).strip("[] \n\t")
    if len(names) > 1 and content[0] == "[" and between.split() in ([], ["..."]):
        # as NumPy prints an array
        _require_whole(between.split())
        return [ast.literal_eval(name) for name in names]
    try:
        return json.loads(content)
    except ValueError:
        pass
    try:
        value = ast.literal_eval(_NAN.sub("None", content))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        if content[0] == "{" and content[-1] == "}":
            return _of_postgresql(content)
        message = f"labels begin like a list, but are none: {content!r:.60}"
        raise NotAListError(
            message, "correct it, or set label_separator: none if it is a name"
        ) from None
    if isinstance(value, list | tuple) and ... in value:
        _require_whole(["..."])
    # a set has no order of its own
    return sorted(value, key=str) if isinstance(value, set) else value


_NAN = re.compile(r"(?<=[\[,(])\s*nan(?=\s*[\],)])")


def _require_whole(words) -> None:
    if "..." in words:
        message = (
            "labels were cut off by the program that printed them: they have '...' in their middle"
        )
        raise ValueError(message, "write them as a list, such as numpy's tolist() or JSON")


def _of_postgresql(content):
    elements = (found.groups() for found in _ELEMENTS.finditer(content))
    return [
        plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
        for quoted, plain in elements
    ]


_ELEMENTS = re.compile(r'"((?:[^"\\]|\\.)*)"|([^{},"]+)', re.DOTALL)


def extract_names(content, key=None):
    """Names in what :func:`parse_list` gave, or in what a file has as a list or an object; strings and
    numbers.

    ``key`` is that of the name in objects.
    """
    if isinstance(content, dict):
        truths = [parse_truth(each) for each in content.values()]
        if key is not None and key in content:
            yield content[key]
        elif None not in truths:
            yield from (name for name, is_true in zip(content, truths, strict=True) if is_true)
        elif all(isinstance(each, str | None) for each in content.values()):
            yield from content.values()
        else:
            raise ValueError(
                f"labels are an object with numbers, {content!r:.60}",
                "write those that are meant as a list",
            )
    elif isinstance(content, list | tuple):
        for each in content:
            if isinstance(each, dict):
                yield _name_in(each, key)
            elif isinstance(each, list | tuple):
                yield from extract_names(each, key)
            else:
                yield each
    else:
        yield content


def _name_in(entry, key):
    if key is None:
        raise ValueError(
            f"labels are objects such as {entry!r:.60}", "say with label_key which key has the name"
        )
    if key not in entry:
        raise ValueError(
            f"a label has no {key!r}: {entry!r:.60}", "correct it, or set another label_key"
        )
    return entry[key]


def find_name_keys(contents):
    """Keys that could be that of the name, among those of the objects that are labels; None without
    objects.
    """
    objects = [
        entry
        for content in contents
        if isinstance(content, list)
        for entry in content
        if isinstance(entry, dict)
    ]
    alone = [
        content
        for content in contents
        if isinstance(content, dict) and None in map(parse_truth, content.values())
    ]
    # objects that map identifiers to names differ in their keys
    if len(alone) > 1 and len({frozenset(each) for each in alone}) == 1:
        objects += alone
    if not objects:
        return None
    keys = dict.fromkeys(key for entry in objects for key in entry)
    texts = [key for key in keys if all(isinstance(entry.get(key), str) for entry in objects)]
    names = [key for key in texts if key.casefold() not in _IDENTIFIERS]
    return names or texts


_IDENTIFIERS = frozenset({"id", "uri", "url", "slug", "code", "type", "scheme", "lang", "language"})
"""Keys of texts that are no names."""


def parse_label(name):
    """A name or a number as a label: 3 and 3.0 are one."""
    if isinstance(name, str):
        return name
    if name is None or name != name:
        return ""
    if isinstance(name, float) and name.is_integer():
        return str(int(name))
    if not isinstance(name, int):
        message = f"a label is {name!r:.60}, neither a name nor a whole number"
        raise ValueError(message, "write the names or ids of the labels that are meant")
    return str(name)
