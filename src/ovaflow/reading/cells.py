"""Values of table cells: texts, labels, numbers, times, or nothing."""

import ast
import contextlib
import json
import math
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

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
"""Words that programs write for an empty cell; none of them is a name."""
LABELS_ARE_ONE_HOT = "one-hot"
NOT_JUDGED_LEAVE_OUT = "leave-out"
LABELS_ARE_NAMES = "names"
"""Content of label cells: truth values, one for each of a row of labels, or names."""

_TRUE_WORDS = frozenset({"1", "true", "yes", "y", "t", "x"})
_FALSE_WORDS = frozenset({"0", "false", "no", "n", "f", ""})

LARGEST_NUMBER = 1e15
"""Squares of numbers up to this are finite in float32."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")

_LIGHTEST_WEIGHT = float(np.finfo(np.float32).tiny)
_HEAVIEST_WEIGHT = float(np.finfo(np.float32).max)
"""Weights are stored as float32."""


def parse_text(content: Any) -> str:
    """Parse the text of a string, a number, None, or a list of them."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [parse_text(each) for each in content]
        return " ".join(text for text in texts if text)
    if not isinstance(content, int | float) or content in (math.inf, -math.inf):
        raise ValueError(f"a text is {content!r:.60}, neither words nor a finite number")
    # tables have nan where a number is missing
    if content != content:
        return ""
    return str(content)


def parse_number(content: Any) -> float:
    """Parse a number; an empty cell is nan."""
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
            f"{content!r:.60} is not between -{LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}",
            "leave the cell empty if there is no number",
        )
    return number


def parse_category(content: Any) -> str:
    """Parse the name of a category, empty for an empty cell; 3 and 3.0 are one category."""
    if isinstance(content, float) and content.is_integer():
        content = int(content)
    # interned: many records share few categories
    return sys.intern(clean_name(parse_text(content)))


def parse_vector(content: Any) -> np.ndarray:
    """Parse the numbers of a list, or of a list written as JSON: float32 (d,)."""
    try:
        numbers = json.loads(content) if isinstance(content, str) else content
        vector: np.ndarray = np.asarray(numbers, np.float32)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise ValueError(f"{content!r:.60} is not a vector of finite numbers")
    return vector


def parse_group(content: Any) -> str:
    """Parse the name of a group; empty for an empty cell."""
    if content is None or content != content:
        return ""
    return clean_text(str(content)).strip()


def parse_weight(content: Any) -> float:
    """Parse the weight of a record, a number above 0."""
    written = parse_group(content)
    try:
        weight = float(written)
    except ValueError:
        weight = math.nan
    if not _LIGHTEST_WEIGHT <= weight <= _HEAVIEST_WEIGHT:
        value = repr(written[:60]) if written else "empty"
        message = f"weight_column is {value}, not a number above 0"
        raise ValueError(message, "write the weight of the record, 1 for one like any other")
    return weight


def parse_time(content: Any) -> float | None:
    """Parse a number, or an ISO date or time as a year with its fraction; None if empty."""
    if content is None:
        return None
    written = content.isoformat() if isinstance(content, date) else str(content).strip()
    if not written or written in MISSING_WORDS:
        return None
    try:
        number = float(written)
    except ValueError:
        number = _parse_year(written)
    if not math.isfinite(number):
        raise ValueError(f"{written!r:.60} is neither a finite number nor a date")
    return number


_SPLIT_PARTS = {
    "train": "train",
    "training": "train",
    "test": "test",
    "dev": "dev",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
}
"""Parts of a split by the words for them in a column."""


def parse_split_part(content: Any) -> str:
    """Parse ``train``, ``test`` or ``dev``, or another word for one of them."""
    written = parse_group(content)
    part = _SPLIT_PARTS.get(written.casefold())
    if part is None:
        value = repr(written[:60]) if written else "empty"
        raise ValueError(
            f"split_column is {value}, not train, test or dev; "
            "for numbers and dates set split: last"
        )
    return part


_MONTH = re.compile(r"\d{4}-\d\d")


def _parse_year(written: str) -> float:
    """Parse a date as a year: about 2020.5 for the middle of 2020."""
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
"""Invisible characters without a meaning in a name; joiners, which have one, are not among them."""


def clean_name(name: str) -> str:
    """Write a label's name in one way: composed characters, none invisible, single spaces."""
    if name.isascii() and name.isalnum():
        return name
    composed = unicodedata.normalize("NFC", clean_text(name))
    return " ".join(_INVISIBLE.sub("", composed).split())


def parse_truth(content: Any) -> bool | None:
    """Parse yes or no; None for anything else."""
    if content is None or content != content:
        return False
    written = str(content).strip().casefold().removesuffix(".0")
    if written in _TRUE_WORDS:
        return True
    if written in _FALSE_WORDS or str(content).strip() in MISSING_WORDS:
        return False
    return None


def is_empty_truth(content: Any) -> bool:
    """Tell whether a cell holds neither yes nor no, but nothing."""
    if content is None or content != content:
        return True
    written = str(content).strip()
    return not written or written in MISSING_WORDS


def parse_meant(value: Any, threshold: float | None = None) -> bool | None:
    """Tell whether a label is meant by its value; None for a value that does not say so.

    Parameters
    ----------
    value : str, number, bool or None
    threshold : float, optional
        The least number of a label that is meant. Without it only 1 and 0 say yes and no.
    """
    number = _parse_value(value)
    if number is not None and threshold is not None:
        return number >= threshold
    if number in (0, 1):
        return number == 1
    return parse_truth(value)


def _parse_value(value: Any) -> float | None:
    """Parse a number, or a text that is one; None for anything else, and for nan."""
    if isinstance(value, str) and _NUMERAL.fullmatch(value.strip()):
        return float(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
        return float(value)
    return None


_NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


# [Festschrift] and (a name) are labels; a list begins with a quoted name, a list, an object, or
# ends at once
_LIST = re.compile(r"""\[\s*([uUbB]?["']|[\[{(]|\]$)""")
_TUPLE_OR_SET = re.compile(r"""[({]\s*([uUbB]?["'[({)]|-?\d[\d.]*\s*,)""")
_OBJECT = re.compile(r"""\{\s*(["'][^"']*["']\s*:|-?\d+\s*:|\})""")
_POSTGRESQL_ARRAY = re.compile(r"\{.*\}", re.DOTALL)
_NUMBER = r"(?:-?\d[\d.e+-]*|[Tt]rue|[Ff]alse|null|None|[Nn]a[Nn]|\.\.\.)"
_NUMBER_AND_QUOTE = re.compile(r"""\[\s*-?\d[^"']*,\s*["']""")
_NUMBERS = re.compile(rf"\[(\s*{_NUMBER}(?:(?:\s*,\s*|\s+){_NUMBER})*\s*,?\s*)\]")
_TAGS = re.compile(r"(?:<[^<>]+>[\s,]*)+")
_PANDAS_MISSING = "<NA>"
"""pandas' word for an empty cell, which is not a tag."""
_PRINTED = re.compile(
    r"(?:array|Index|frozenset|set|deque|dict_keys|dict_values)"
    r"\((.*?)(?:,\s*(?:dtype|shape|length|name|maxlen)=.*)?\)",
    re.DOTALL,
)
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_LIST_BEGINNINGS = frozenset("[({<")
_TWO_BRACKETS = re.compile(r"[\[({]{2}")
_NAN_IN_LIST = re.compile(r"(?<=[\[,(])\s*nan(?=\s*[\],)])")


class NotAListError(ValueError):
    """A text that begins like a list, and may still be a name."""


def parse_list(content: str, mark: str = ",") -> Any:
    """Parse a list, a set, an object or tags; None if a cell holds none of them.

    Recognized are JSON, Python, PostgreSQL's arrays, what NumPy and pandas print, and ``<a><b>``.

    Parameters
    ----------
    content : str
    mark : str
        The separator in PostgreSQL's arrays.
    """
    printed = _PRINTED.fullmatch(content) if content[-1:] == ")" else None
    if printed:
        content = printed[1].strip() or "[]"
    if content[:1] not in _LIST_BEGINNINGS:
        return None
    if _TWO_BRACKETS.match(content) and content[-1] not in "])}":
        return None
    if _LIST.match(content) or _OBJECT.match(content) or _TUPLE_OR_SET.match(content):
        return _parse_literal(content)
    if _NUMBER_AND_QUOTE.match(content):
        # a year and a title may be in brackets, too
        with contextlib.suppress(NotAListError):
            return _parse_literal(content)
    if _POSTGRESQL_ARRAY.fullmatch(content):
        return _parse_postgresql_array(content, mark)
    if _TAGS.fullmatch(content) and content != _PANDAS_MISSING:
        return re.findall("<([^<>]+)>", content)
    numbers = _NUMBERS.fullmatch(content)
    if numbers:
        return _parse_numbers(numbers[1])
    return None


def _parse_numbers(content: str) -> list[str | None]:
    """Parse the inside of a list of numbers, which stay as written, but NumPy's ``3.``."""
    written = content.replace(",", " ").split()
    require_complete(written)
    words: list[str | None] = []
    for word in written:
        if word in ("null", "None", "nan", "NaN"):
            words.append(None)
        elif word.endswith(".") and word[:-1].lstrip("-").isdigit():
            words.append(word[:-1])
        else:
            words.append(word)
    return words


def _parse_literal(content: str) -> Any:
    """Parse a literal of NumPy, JSON, Python or PostgreSQL."""
    names = _QUOTED.findall(content)
    between = _QUOTED.sub("", content).strip("[] \n\t")
    if len(names) > 1 and content[0] == "[" and between.split() in ([], ["..."]):
        # an array as NumPy prints it
        require_complete(between.split())
        return [ast.literal_eval(name) for name in names]
    try:
        return json.loads(content)
    except ValueError:
        pass
    try:
        value = ast.literal_eval(_NAN_IN_LIST.sub("None", content))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        if content[0] == "{" and content[-1] == "}":
            return _parse_postgresql_array(content)
        message = f"labels begin like a list, but are not one: {content!r:.60}"
        remedy = "correct it, or set label_separator: none if it is a name"
        raise NotAListError(message, remedy) from None
    if isinstance(value, list | tuple) and ... in value:
        require_complete(["..."])
    if isinstance(value, set):
        # a set has no order of its own
        return sorted(value, key=str)
    return value


def require_complete(words: Sequence[str | None]) -> None:
    """Refuse an array that NumPy or pandas cut off in the middle."""
    if "..." in words:
        message = (
            "labels were cut off by the program that printed them: they have '...' in their middle"
        )
        raise ValueError(message, "write them as a list, such as numpy's tolist() or JSON")


def _parse_postgresql_array(content: str, mark: str = ",") -> list[str]:
    """Parse the elements of an array, or of arrays inside an array."""
    elements = []
    for match in _compile_postgresql_element(mark).finditer(content):
        quoted, plain = match.groups()
        if quoted is None:
            elements.append(plain)
        else:
            elements.append(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
    return elements


@lru_cache
def _compile_postgresql_element(mark: str) -> re.Pattern[str]:
    """Compile the pattern of an element, in quotes or up to a mark."""
    plain = rf'(?:(?!{re.escape(mark)})[^{{}}"])+'
    return re.compile(rf'"((?:[^"\\]|\\.)*)"|({plain})', re.DOTALL)


def extract_names(
    content: Any, key: str | None = None, threshold: float | None = None
) -> Iterator[Any]:
    """Yield the names, strings or numbers, in a list or an object.

    Names that have a value are yielded if it says that they are meant.

    Parameters
    ----------
    content : list, tuple, dict or scalar
        A result of :func:`parse_list`, or a value of a file that has lists and objects.
    key : str, optional
        The key of the name where labels are objects.
    threshold : float, optional
        The least value of a name that is meant.
    """
    if isinstance(content, dict):
        yield from _extract_object_names(content, key, threshold)
    elif isinstance(content, list | tuple):
        if are_names_with_values(content):
            for name, value in content:
                if _is_meant(name, value, threshold):
                    yield name
            return
        for each in content:
            if isinstance(each, dict):
                yield from _extract_entry_name(each, key, threshold)
            elif isinstance(each, list | tuple):
                yield from extract_names(each, key, threshold)
            else:
                yield each
    else:
        yield content


def _extract_object_names(content: dict, key: str | None, threshold: float | None) -> Iterator[Any]:
    """Yield the names in one object: at the key, the keys that are meant, or else all texts."""
    if key is not None and key in content:
        yield from _extract_entry_name(content, key, threshold)
    elif _holds_values(content):
        for name, value in content.items():
            if _is_meant(name, value, threshold):
                yield name
    elif all(isinstance(each, str | None) for each in content.values()):
        yield from content.values()
    else:
        raise ValueError(
            f"labels are an object with numbers, {content!r:.60}",
            "write those that are meant as a list",
        )


def _extract_entry_name(entry: dict, key: str | None, threshold: float | None) -> Iterator[Any]:
    """Yield the name of a label that is an object, unless its values say that it is not meant."""
    if key is None:
        raise ValueError(
            f"labels are objects such as {entry!r:.60}",
            "set label_key to the key that has the name",
        )
    if key not in entry:
        raise ValueError(
            f"a label has no {key!r}: {entry!r:.60}", "correct it, or set another label_key"
        )
    name = entry[key]
    # a label that one value excludes needs no threshold for another
    values = [value for other, value in entry.items() if other != key and _is_value(other, value)]
    if False in [parse_meant(value, threshold) for value in values]:
        return
    if all(_is_meant(name, value, threshold) for value in values):
        if isinstance(name, list):
            yield from name
        else:
            yield name


def _is_meant(name: Any, value: Any, threshold: float | None) -> bool:
    """Tell whether a name is meant by its value; refuse a number that needs a threshold."""
    is_meant = parse_meant(value, threshold)
    if is_meant is None:
        message = f"the label {name!r:.60} has the value {value!r:.20}, neither 1 nor 0"
        remedy = "set label_threshold to the least value of labels that are meant"
        number = _parse_value(value)
        if number is not None and 0 < number < 1:
            remedy += ", such as 0.5"
        elif number is not None and number > 1:
            remedy += "; 0 takes all of them"
        raise ValueError(message, remedy)
    return is_meant


_VALUE_KEYS = frozenset(
    {
        "applies",
        "checked",
        "confidence",
        "likelihood",
        "prob",
        "probability",
        "relevance",
        "score",
        "selected",
        "truth",
        "value",
        "weight",
    }
)
"""Keys whose numbers and truths say whether, or how surely, a label is meant."""
_PLAIN_TRUTHS = frozenset({"true", "false", "yes", "no", ""})


def _is_value(key: Any, value: Any) -> bool:
    """Tell whether a part of a label that is an object says how far the label is meant."""
    name = str(key).casefold()
    if name not in _VALUE_KEYS:
        return False
    if name == "value" and isinstance(value, str) and _parse_value(value) is None:
        # forms have {"label": "Chess", "value": "chess"}, of which "x" or "n" is no truth
        return value.strip().casefold() in _PLAIN_TRUTHS
    return _parse_value(value) is not None or parse_truth(value) is not None


def _holds_values(content: dict) -> bool:
    """Tell whether an object names labels by its keys, with a number, or yes or no, for each."""
    further = [value for value in content.values() if parse_truth(value) is None]
    if not further:
        return True
    if any(str(key).casefold() in _IDENTIFIER_KEYS for key in content):
        return False
    return all(_is_score(value) for value in further)


def _is_score(value: Any) -> bool:
    """Tell whether a value is a number, or a decimal as a text; "3" may be a name."""
    if isinstance(value, str) and value.strip().isdigit():
        return False
    return _parse_value(value) is not None


def are_names_with_values(content: Sequence[Any]) -> bool:
    """Tell whether entries of a list are pairs of a name and a number, yes, no or nothing."""
    for each in content:
        if not isinstance(each, list | tuple) or len(each) != 2:
            return False
        if not isinstance(each[0], str) or not isinstance(each[1], int | float | None):
            return False
    # lists of a name and nothing may be names with gaps
    return any(value is not None for _, value in content)


def find_name_keys(contents: Sequence[Any]) -> list[str] | None:
    """Find the keys that could be that of the name in labels that are objects.

    Parameters
    ----------
    contents : sequence
        Cells of labels, as :func:`parse_list` returns them.

    Returns
    -------
    list of str, or None where no label is an object
    """
    objects = _find_objects(contents)
    if not objects:
        return None
    text_keys = [key for key in _collect_keys(objects) if _holds_texts(objects, key)]
    if _are_spans(objects):
        text_keys = [key for key in text_keys if key.casefold() not in _TEXT_KEYS]
    text_keys = text_keys or [key for key in _collect_keys(objects) if _holds_lists(objects, key)]
    text_keys = [key for key in text_keys if not all(_is_value(key, each[key]) for each in objects)]
    name_keys = [key for key in text_keys if key.casefold() not in _IDENTIFIER_KEYS]
    return name_keys or text_keys


def _holds_texts(objects: Iterable[dict], key: str) -> bool:
    """Tell whether all objects have a text at a key."""
    return all(isinstance(entry.get(key), str) for entry in objects)


def _holds_lists(objects: Iterable[dict], key: str) -> bool:
    """Tell whether all objects have a list of texts at a key."""
    for entry in objects:
        names = entry.get(key)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return False
    return True


_SPAN_KEYS = frozenset({"start", "start_offset", "begin", "offset", "end", "end_offset"})
"""Keys whose numbers say where in a text a label is."""
_TEXT_KEYS = frozenset({"text", "word", "quote", "value"})
"""Keys of the piece of the text that has a label."""


def _are_spans(objects: Iterable[dict]) -> bool:
    """Tell whether objects are pieces of a text that have labels."""
    for entry in objects:
        places = [entry[key] for key in entry if str(key).casefold() in _SPAN_KEYS]
        if not any(isinstance(place, int) for place in places):
            return False
    return True


def _find_objects(contents: Sequence[Any]) -> list[dict]:
    """Find the objects among labels: those in lists, and those that are a whole cell."""
    in_lists = []
    whole_cells = []
    for content in contents:
        if isinstance(content, list):
            in_lists += [entry for entry in content if isinstance(entry, dict)]
        elif isinstance(content, dict) and not _holds_values(content):
            whole_cells.append(content)
    # objects that map identifiers to names differ in their keys
    if len(whole_cells) > 1 and len({frozenset(each) for each in whole_cells}) == 1:
        return in_lists + whole_cells
    return in_lists


def _collect_keys(objects: Iterable[dict]) -> list[str]:
    """Collect the keys of some objects, each once."""
    keys: dict[str, None] = {}
    for entry in objects:
        keys |= dict.fromkeys(entry)
    return list(keys)


_IDENTIFIER_KEYS = frozenset(
    {"id", "uri", "url", "slug", "code", "type", "scheme", "lang", "language"}
)
"""Keys whose texts are no names."""


def parse_label(name: Any) -> str:
    """Write a name or a number as a label; 3 and 3.0 are one."""
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
