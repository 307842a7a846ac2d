"""fastText's lines: ``__label__a __label__b text``."""

_LABEL = "__label__"


def read(file, reading):
    with file.lines() as lines:
        for number, line in lines:
            words = line.split()
            labels = [word.removeprefix(_LABEL) for word in words if word.startswith(_LABEL)]
            text = " ".join(word for word in words if not word.startswith(_LABEL))
            if text or labels:
                yield reading.plain_instance(text, labels, file.name, number)
