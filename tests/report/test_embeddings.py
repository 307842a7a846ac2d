"""Label embeddings in the report."""

from types import SimpleNamespace

import pytest

from ovaflow.console.errors import InputError
from ovaflow.report.embedding_figures import error_by_rank, spectrum
from ovaflow.report.embeddings import read_embedding_of
from ovaflow.storage.texts import write_json

FOUND = {
    "eigenvalues": [],
    "label_covariance": [2.0, 1.0],
    "points": [{"rank": 1, "P@1": 0.2}, {"rank": 2, "P@1": 0.4}],
    "neighbours": [{"label": 1, "nearest": [[0, 0.5]]}],
}


def test_labels_by_their_names(tmp_path):
    assert read_embedding_of(tmp_path, []) is None
    write_json(tmp_path / "embedding.json", "embedding-description", FOUND)
    found = read_embedding_of(tmp_path, ["a", "b"])
    assert found.neighbours == [("b", [("a", 0.5)])]
    with pytest.raises(InputError, match="no description of an embedding"):
        read_embedding_of(tmp_path, ["a"])


def test_figures_of_embeddings_with_and_without_a_spectrum(tmp_path):
    write_json(tmp_path / "embedding.json", "embedding-description", FOUND)
    made = read_embedding_of(tmp_path, ["a", "b"])
    write_json(tmp_path / "embedding.json", "embedding-description", {key: [] for key in FOUND})
    none = read_embedding_of(tmp_path, ["a", "b"])
    runs = [
        SimpleNamespace(name=f"run {number}", series=number, metrics={"P@1": 0.5}, embedding=embedding)
        for number, embedding in enumerate((made, made, none))
    ]
    assert spectrum("name", runs[2:]).svg.startswith("<svg")
    for figure in (spectrum, error_by_rank):
        first, second = (figure("name", runs) for _ in range(2))
        assert first == second
        assert first.svg.startswith("<svg")
