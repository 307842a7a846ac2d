"""What extra records with wrong labels are worth, by their weight: `python
benchmarks/extra_weights.py DATA`.

DATA holds train_raw.tsv.gz and test_raw.tsv.gz of kirjastonhoitaja. Of the training records two
thirds are extra ones, in which a third of the labels is replaced by labels drawn by frequency.
"""

import gzip
import sys
from pathlib import Path

import numpy as np

from ovaflow import OneVsAllClassifier, TextFeatures

WEIGHTS = (0.0, 0.1, 0.3, 0.5, 1.0, 2.0)
SEEDS = 3
WRONG = 1 / 3


def main(folder) -> None:
    train, test = (read(Path(folder) / f"{part}_raw.tsv.gz") for part in ("train", "test"))
    for weight in WEIGHTS:
        figures = [quality(train, test, weight, seed) for seed in range(SEEDS)]
        first, five = 100 * np.mean(figures, axis=0)
        print(f"weight {weight:g}: P@1 {first:.1f}, P@5 {five:.1f}", flush=True)


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file]
    return [text for _, text in rows], [labels.split(",") for labels, _ in rows]


def quality(train, test, weight, seed):
    """P@1 and P@5; weight 0: without the extra records."""
    texts, labels = train
    rng = np.random.default_rng(seed)
    n = len(texts) // 3
    order = rng.permutation(len(texts))
    drawn = [label for row in labels for label in row]
    rows = [labels[i] for i in order[:n]]
    for i in order[n:]:
        wrong = rng.random(len(labels[i])) < WRONG
        others = rng.choice(drawn, len(wrong))
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
