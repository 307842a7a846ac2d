"""fastText's lines: ``__label__a __label__b text``, with labels anywhere, as fastText has them."""

import re

_LABEL = "__label__"
_SPACES = re.compile("[ \t\v\f\r\n\0]+")
"""Which divide words for fastText; others may stand inside a label."""


def read(file, reading):
    reading.seen["labels"] = f"words that begin with {_LABEL}"
    with file.lines() as lines:
        for number, line in lines:
            words = [word for word in _SPACES.split(line) if word]
            labels = [word.removeprefix(_LABEL) for word in words if word.startswith(_LABEL)]
            text = " ".join(word for word in words if not word.startswith(_LABEL))
            if words:
                yield reading.make_plain_instance(text, labels, file.name, number)
