"""JSON Lines: an object a line."""

import json
from collections import Counter

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import read_lines


def read(path, columns):
    """Read a file; blank lines are skipped.

    Parameters
    ----------
    path : path-like
        Plain or compressed.
    columns : Columns

    Yields
    ------
    TextInstance

    Raises
    ------
    InputError
        With the number of a line that is no JSON object, lacks a field or has
        a field of another type.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        entry = json_object(line, path, number)
        columns.check(entry, path, number)
        try:
            yield columns.instance([entry[name] for name in columns.texts], entry[columns.labels])
        except ValueError as error:
            raise InputError(str(error), path=path, line=number) from None


def _object(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {key[:60]!r} stands twice")
    return found


def _refuse_constant(name):
    raise ValueError(f"{name} is no number of JSON")


def json_object(line, path, number):
    """The object that a line holds.

    Parameters
    ----------
    line : str
    path : path-like
    number : int
        Of the line, for messages.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If there is none.
    """
    try:
        entry = json.loads(line, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except RecursionError:
        raise InputError("nested too deeply", path=path, line=number) from None
    except json.JSONDecodeError as error:
        raise InputError(f"no JSON ({error.msg} at character {error.colno})", path=path, line=number) from None
    except ValueError as error:
        raise InputError(f"no JSON ({error})", path=path, line=number) from None
    if not isinstance(entry, dict):
        raise InputError(f"expected a JSON object, found {line[:40]!r}", path=path, line=number)
    return entry
