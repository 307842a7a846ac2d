"""A table of 200 short texts whose words tell their labels, and a config for it.

``python tests/tiny_table.py FOLDER`` writes records.csv and my.yaml.
"""

import random
import sys
from pathlib import Path

import yaml
from records import write_records

MSI = {"initialization": "mean-separating"}

TINY_CONFIG = {
    "datasets": {"tiny": {"format": "csv", "train": "records.csv", "label_separator": "|"}},
    "runs": {"msi": MSI, "dismec": {"initialization": "zero"}},
    "train": {"shards": 2},
    "predict": {"rerank": 0},
    "report": {"examples": 3},
}


def write_table(path, rows=200, separator="|", columns=("text", "labels")) -> None:
    """Write the table."""
    generator = random.Random(7)
    records = []
    topics = {f"topic {j}": [f"word{j}{i}" for i in range(6)] for j in range(10)}
    for _ in range(rows):
        chosen = generator.sample(sorted(topics), generator.randint(1, 3))
        words = []
        for topic in chosen:
            words += [generator.choice(topics[topic]) for _ in range(5)]
        words += [f"filler{generator.randrange(30)}" for _ in range(8)]
        text, labels = columns
        records.append({text: " ".join(words), labels: separator.join(chosen)})
    write_records(path, records)


def write_named_table(path, rows=1100, labels=80) -> None:
    """Write a table of rare labels whose names occur in many of their texts, which a second stage
    learns.
    """
    generator = random.Random(7)
    records = []
    for _ in range(rows):
        chosen = {min(int(generator.paretovariate(0.4)), labels) for _ in range(2)}
        words = [f"word{generator.randrange(60)}" for _ in range(6)]
        words += [f"name{j}" for j in chosen if generator.random() < 0.7]
        words += [f"hint{j % 5}" for j in chosen]
        names = "|".join(f"name{j}" for j in sorted(chosen))
        records.append({"text": " ".join(words), "labels": names})
    write_records(path, records)


def write_config(path, **sections) -> None:
    """Write :data:`CONFIG` as a user's config file, with some sections replaced."""
    Path(path).write_text(yaml.safe_dump(TINY_CONFIG | sections), encoding="utf-8")


if __name__ == "__main__":
    write_table(Path(sys.argv[1]) / "records.csv")
    write_config(Path(sys.argv[1]) / "my.yaml")
