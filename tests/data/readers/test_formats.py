"""Formats by name, against scikit-learn's svmlight reader on real data."""

import gzip
import io

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from ovaflow.console.errors import InputError
from ovaflow.data.readers.formats import read_feature_splits, read_features, read_texts


@pytest.mark.parametrize("name", ["bibtex", "delicious", "aloi", "yeast"])
def test_xmc_text_equals_sklearn_on_real_data(real_data, name):
    path = real_data / name / "test.txt.gz"
    header, body = gzip.decompress(path.read_bytes()).split(b"\n", 1)
    n, d, n_labels = map(int, header.split())
    X, Y = read_features("xmc-text", path)
    ours = X.to_scipy()
    theirs, their_labels = load_svmlight_file(
        io.BytesIO(body), n_features=d, dtype=np.float32, multilabel=True, zero_based=True
    )
    assert ours.shape == theirs.shape == (n, d)
    assert (ours != theirs).nnz == 0
    our_labels = [tuple(Y.indices[a:b]) for a, b in zip(Y.indptr, Y.indptr[1:], strict=False)]
    assert our_labels == [tuple(sorted(set(map(int, labels)))) for labels in their_labels]
    assert Y.n_columns == n_labels


def test_splits_are_widened_to_the_same_columns(tmp_path):
    (tmp_path / "a").write_text("1 2 3\n0 1:1\n")
    (tmp_path / "b").write_text("1 5 2\n1 4:1\n")
    shapes = [(X.n_columns, Y.n_columns) for X, Y in read_feature_splits("xmc-text", [tmp_path / "a", tmp_path / "b"])]
    assert shapes == [(5, 3), (5, 3)]


def test_unknown_formats_name_the_known(tmp_path):
    with pytest.raises(InputError, match="use one of xmc-text, svmlight, npz"):
        read_features("arff", tmp_path / "a")
    with pytest.raises(InputError, match="use one of text-tsv, csv, jsonl, parquet"):
        read_texts("word", tmp_path / "a")
