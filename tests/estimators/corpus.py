"""Classifiers, texts whose topics two of their words tell, and matrices as a dataset file."""

from pathlib import Path
from typing import Any

import scipy.sparse as sp
from commands import ovaflow

from ovaflow import FastXMLClassifier, OneVsAllClassifier, RembrandtClassifier

CLASSIFIERS = [OneVsAllClassifier(), FastXMLClassifier(trees=4), RembrandtClassifier(rank=4)]


def _make_text(i) -> str:
    topic = "salt" if i % 2 else "rope"
    place = "sea" if i % 3 else "hill"
    return f"{topic} {place} number{i % 7}"


def _make_german_text(i) -> str:
    topic = "Salzige" if i % 2 else "hohe"
    place = "See" if i % 3 else "Hügel"
    return f"{topic} {place} und Nummern{i % 7}"


def _make_topics(i) -> list[str]:
    topics = ["cooking" if i % 2 else "climbing"]
    if i % 3:
        topics.append("water")
    return topics


TEXTS = [_make_text(i) for i in range(60)]
TOPICS = [_make_topics(i) for i in range(60)]
GERMAN_TEXTS = [_make_german_text(i) for i in range(60)]


def prepare_dataset(folder, X, Y) -> Path:
    """Write matrices and let ``ovaflow prepare`` make a dataset of them; return its path."""
    sp.save_npz(folder / "X.npz", X)
    sp.save_npz(folder / "Y.npz", Y)
    dataset = folder / "dataset.h5"
    ovaflow(
        "prepare",
        "--format=npz",
        f"--train={folder}/X.npz",
        f"--train-labels={folder}/Y.npz",
        f"--test={folder}/X.npz",
        f"--test-labels={folder}/Y.npz",
        "--tfidf=false",
        f"--output={dataset}",
    )
    return dataset


def save_and_load(model, folder) -> Any:
    """Save a classifier to a file in a folder, and load it again."""
    model.save(folder / "model.h5")
    return type(model).load(folder / "model.h5")
