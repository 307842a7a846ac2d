"""Files to predict that have a text per line."""

from ovaflow.reading.instances import TextInstance
from ovaflow.reading.streams import clean, without_end


def read(file, reading):
    with file.lines() as lines:
        for _, line in lines:
            yield TextInstance(clean(without_end(line)))
