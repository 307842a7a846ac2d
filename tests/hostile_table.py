"""A table of texts whose labels have names that an unsafe page would run, hide or misplace."""

import random

from records import write_records

HOSTILE = [
    "<script>document.title='taken'</script>",
    '"><img src=x onerror="document.title=\'taken\'">',
    "{{7*7}}${7*7}<%= 7*7 %>",
    "\u202eright to left\u202c",
    "a\u0000b\tc\nd",
    "Größe \U0001f600 \U00020000",
    "'; DROP TABLE labels; --",
    "</script></style><b>bold",
    "javascript:document.title='taken'",
    "plain",
]
"""Names of labels."""


def write_texts(path, rows=240) -> None:
    """Write a table whose words tell the labels; some are beyond ASCII or beyond 16 bits."""
    generator = random.Random(11)
    label_words = []
    for j in range(len(HOSTILE)):
        plain = [f"word{j}{i}" for i in range(4)]
        label_words.append([*plain, f"größe{j}", f"Ⅳx\U00010400{j}"])
    records = []
    for _ in range(rows):
        labels = generator.sample(range(len(HOSTILE)), generator.randint(1, 2))
        words = []
        for label in labels:
            words += [generator.choice(label_words[label]) for _ in range(5)]
        words += [f"filler{generator.randrange(25)}" for _ in range(6)]
        names = "¦".join(HOSTILE[label] for label in labels)
        records.append({"text": " ".join(words), "labels": names})
    write_records(path, records)
