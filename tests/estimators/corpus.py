"""Classifiers, texts whose topics two words of each tell, and matrices as a dataset file."""

import scipy.sparse as sp
from commands import ovaflow

from ovaflow import FastXMLClassifier, OneVsAllClassifier, RembrandtClassifier

CLASSIFIERS = [OneVsAllClassifier(), FastXMLClassifier(trees=4), RembrandtClassifier(rank=4)]
TEXTS = [
    f"{'salt' if i % 2 else 'rope'} {'sea' if i % 3 else 'hill'} number{i % 7}" for i in range(60)
]
TOPICS = [["cooking" if i % 2 else "climbing", *(["water"] if i % 3 else [])] for i in range(60)]
GERMAN_TEXTS = [
    f"{'Salzige' if i % 2 else 'hohe'} {'See' if i % 3 else 'Hügel'} und Nummern{i % 7}"
    for i in range(60)
]


def prepare_dataset(folder, X, Y):
    """What ``ovaflow prepare`` makes of them: dataset.h5."""
    for name, matrix in (("X", X), ("Y", Y)):
        sp.save_npz(folder / f"{name}.npz", matrix)
    parts = {"train": "X", "train-labels": "Y", "test": "X", "test-labels": "Y"}
    files = [f"--{part}={folder}/{name}.npz" for part, name in parts.items()]
    ovaflow("prepare", "--format=npz", *files, "--tfidf=false", f"--output={folder}/dataset.h5")
    return folder / "dataset.h5"


def save_and_load(model, folder):
    """A classifier as its file in a folder has it."""
    model.save(folder / "model.h5")
    return type(model).load(folder / "model.h5")
