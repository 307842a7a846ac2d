"""Measure the use of extra records with wrong labels, by their weight.

``python benchmarks/extra_weights.py DATA``

DATA holds train_raw.tsv.gz and test_raw.tsv.gz of kirjastonhoitaja. Two thirds of the training
records are extra ones, in which a third of the labels is replaced by labels drawn by frequency.
"""

import gzip
import sys
from itertools import chain
from pathlib import Path

import numpy as np

from ovaflow import OneVsAllClassifier, TextFeatures

WEIGHTS = (0.0, 0.1, 0.3, 0.5, 1.0, 2.0)
SEEDS = 3
WRONG_SHARE = 1 / 3
"""Share of the labels of extra records that are replaced."""


def main(folder: str) -> None:
    """Print P@1 and P@5 for each weight."""
    train = read_records(Path(folder) / "train_raw.tsv.gz")
    test = read_records(Path(folder) / "test_raw.tsv.gz")
    for weight in WEIGHTS:
        figures = [measure_precision(train, test, weight, seed) for seed in range(SEEDS)]
        first, five = 100 * np.mean(figures, axis=0)
        print(f"weight {weight:g}: P@1 {first:.1f}, P@5 {five:.1f}", flush=True)


Records = tuple[list[str], list[list[str]]]
"""Texts and their labels."""


def read_records(path: Path) -> Records:
    """Read texts and their labels."""
    texts = []
    labels = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            ids, text = line.rstrip("\n").split("\t", 1)
            texts.append(text)
            labels.append(ids.split(","))
    return texts, labels


def measure_precision(
    train: Records, test: Records, weight: float, seed: int
) -> tuple[float, float]:
    """Measure P@1 and P@5; weight 0: without the extra records."""
    texts, labels = train
    rng = np.random.default_rng(seed)
    n = len(texts) // 3
    order = rng.permutation(len(texts))
    all_labels = list(chain.from_iterable(labels))
    rows = [labels[i] for i in order[:n]]
    for i in order[n:]:
        wrong = rng.random(len(labels[i])) < WRONG_SHARE
        others = rng.choice(all_labels, len(wrong))
        rows.append(list(dict.fromkeys(np.where(wrong, others, labels[i]))))
    last = n if weight == 0 else len(texts)
    features = TextFeatures()
    X = features.fit_transform([texts[i] for i in order[:last]])
    weights = np.append(np.ones(n), np.full(last - n, weight))
    model = OneVsAllClassifier().fit(X, rows[:last], sample_weight=weights)
    X_test = features.transform(test[0])
    return model.precision_at_k(X_test, test[1], 1), model.precision_at_k(X_test, test[1], 5)


if __name__ == "__main__":
    main(sys.argv[1])
