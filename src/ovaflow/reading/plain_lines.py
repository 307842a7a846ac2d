"""Files to predict that have a text per line."""

from collections.abc import Iterator

from ovaflow.reading.instances import Reading, TextInstance
from ovaflow.reading.streams import RecordFile, clean_text, strip_line_end


def read(file: RecordFile, reading: Reading) -> Iterator[TextInstance]:
    """Yield an instance of each line."""
    with file.lines() as lines:
        for _, line in lines:
            yield TextInstance(clean_text(strip_line_end(line)))
