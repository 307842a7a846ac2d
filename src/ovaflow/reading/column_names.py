"""Names of several columns as one text, which commas divide."""

import re


def split_names(columns):
    """Names of columns with commas between them; a name with a comma of its own is in quotes."""
    found = (each.groups() for each in _COLUMN.finditer(columns))
    names = (plain if quoted is None else quoted.replace('""', '"') for quoted, plain in found)
    return [name for name in map(str.strip, names) if name]


_COLUMN = re.compile(r'\s*(?:"((?:[^"]|"")+)"\s*(?=,|$)|([^,]+))')


def joined_names(names):
    """What :func:`split_names` splits."""
    return ",".join('"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name for name in names)


def plain_column(name):
    """A column's name without what a person need not copy: capitals, and line ends, which messages have as escapes."""
    return re.sub(" *, *", ",", " ".join(name.replace("\\n", " ").split())).casefold()
