"""Files to predict that have a text per line."""

from ovaflow.reading.instances import TextInstance
from ovaflow.reading.streams import clean_text, strip_line_end


def read(file, reading):
    with file.lines() as lines:
        for _, line in lines:
            yield TextInstance(clean_text(strip_line_end(line)))
