"""A table of texts whose labels have names that a careless page would run, hide or misplace."""

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
    """A table whose words tell the labels, among them words beyond ASCII and beyond 16 bits."""
    generator = random.Random(11)
    own = [
        [f"word{j}{i}" for i in range(4)] + [f"größe{j}", f"Ⅳx\U00010400{j}"]
        for j in range(len(HOSTILE))
    ]
    records = []
    for _ in range(rows):
        chosen = generator.sample(range(len(HOSTILE)), generator.randint(1, 2))
        words = [generator.choice(own[j]) for j in chosen for _ in range(5)]
        words += [f"filler{generator.randrange(25)}" for _ in range(6)]
        records.append({"text": " ".join(words), "labels": "¦".join(HOSTILE[j] for j in chosen)})
    write_records(path, records)
