"""fastText's lines: ``__label__a __label__b text``, with labels anywhere, as fastText allows."""

import re
from collections.abc import Iterator

from ovaflow.reading.instances import Reading, TextInstance
from ovaflow.reading.streams import RecordFile

_LABEL_PREFIX = "__label__"
_SPACES = re.compile("[ \t\v\f\r\n\0]+")
"""Characters that divide words for fastText; other spaces may be inside a label."""


def read(file: RecordFile, reading: Reading) -> Iterator[TextInstance]:
    """Yield the instances of a file."""
    reading.seen["labels"] = f"words that begin with {_LABEL_PREFIX}"
    with file.lines() as lines:
        for number, line in lines:
            labels = []
            words = []
            for word in _SPACES.split(line):
                if word.startswith(_LABEL_PREFIX):
                    labels.append(word.removeprefix(_LABEL_PREFIX))
                elif word:
                    words.append(word)
            if labels or words:
                yield reading.make_plain_instance(" ".join(words), labels, file.name, number)
