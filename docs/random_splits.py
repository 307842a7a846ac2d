"""Random splits of a dataset in XMC text format, and means over them.

``python docs/random_splits.py FOLDER SPLITS TRAIN FILE...`` takes the instances of all files
together and writes FOLDER/0-train.txt.gz, FOLDER/0-test.txt.gz and so on, TRAIN instances for
training, the rest for testing. ``python docs/random_splits.py mean METRICS...`` prints mean and
standard deviation of P@k over several metrics.json.
"""

import gzip
import json
import random
import statistics
import sys
from pathlib import Path


def write(folder: str, splits: str, n_train: str, *paths: str) -> None:
    """Write the files of all splits."""
    rows = []
    sizes = set()
    for path in paths:
        with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
            header, *instances = file.read().splitlines()
        rows += instances
        sizes.add(" ".join(header.split()[1:]))
    if len(sizes) > 1:
        sys.exit(f"numbers of features and labels differ: {sorted(sizes)}")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for split in range(int(splits)):
        random.Random(split).shuffle(rows)
        parts = {"train": rows[: int(n_train)], "test": rows[int(n_train) :]}
        for name, part in parts.items():
            with gzip.open(Path(folder, f"{split}-{name}.txt.gz"), "wt") as file:
                file.write("\n".join([f"{len(part)} {min(sizes)}", *part, ""]))


def mean(*paths: str) -> None:
    """Print mean and standard deviation."""
    runs = [json.loads(Path(path).read_text()) for path in paths]
    for metric in ("P@1", "P@3", "P@5"):
        values = [100 * run[metric] for run in runs]
        print(f"{metric} {statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}")


if __name__ == "__main__":
    if sys.argv[1] == "mean":
        mean(*sys.argv[2:])
    else:
        write(*sys.argv[1:])
