"""The svmlight format against scikit-learn's reader."""

import io
import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file, load_svmlight_files

from ovaflow.console.errors import InputError
from ovaflow.data.readers import svmlight

LINES = st.one_of(
    st.sampled_from(["", "   ", "# only a comment", "  # so here"]),
    st.tuples(
        st.lists(st.integers(0, 9), max_size=4, unique=True).map(lambda labels: ",".join(map(str, labels))),
        st.dictionaries(st.integers(1, 12), st.sampled_from(["1", "0", "-2.5", "3e-4"]), max_size=5).map(
            lambda row: " ".join(f"{feature}:{value}" for feature, value in sorted(row.items()))
        ),
        st.sampled_from(["", " ", " # 3:4 5,6", "\r", "\t#"]),
    ).map(" ".join),
)


def label_rows(Y):
    return [tuple(Y.indices[a:b].tolist()) for a, b in itertools.pairwise(Y.indptr)]


@given(st.lists(LINES, max_size=12), st.sampled_from([True, False, "auto"]), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_equals_sklearn(tmp_path, lines, zero_based, with_zero):
    lines = [*lines, "3,1 2:1"] if not with_zero or zero_based is False else [*lines, "3 0:1 2:1"]
    content = "\n".join(lines).encode()
    path = tmp_path / "file.txt"
    path.write_bytes(content)
    X, Y = svmlight.read(path, zero_based, block=16)
    theirs, their_labels = load_svmlight_file(
        io.BytesIO(content), multilabel=True, zero_based=zero_based, dtype=np.float32
    )
    np.testing.assert_array_equal(X.to_scipy().toarray(), theirs.toarray())
    assert label_rows(Y) == [tuple(sorted(map(int, labels))) for labels in their_labels]
    assert Y.n_columns == 1 + max(map(max, filter(None, label_rows(Y))))


def test_files_that_belong_together_share_columns_and_the_first_id_as_in_sklearn(tmp_path):
    contents = [b"0 0:1 3:1\n", b"7 1:1 5:2\n"]
    paths = [tmp_path / "train.txt", tmp_path / "test.txt"]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    splits = svmlight.read_splits(paths)
    theirs = load_svmlight_files([*map(io.BytesIO, contents)], multilabel=True)
    for (X, Y), their_X in zip(splits, theirs[::2], strict=True):
        np.testing.assert_array_equal(X.to_scipy().toarray(), their_X.toarray())
        assert Y.n_columns == 8


def test_instances_without_any_feature(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("\ufeff3\n2,0\n")
    X, Y = svmlight.read(path)
    assert X.to_scipy().shape == (2, 0)
    assert label_rows(Y) == [(3,), (0, 2)]


@pytest.mark.parametrize(
    ("text", "zero_based", "line", "message"),
    [
        ("1 1:1\n# c\n\n-1 1:1\n", "auto", 4, "expected label ids separated by commas, found '-1'"),
        ("1 1:1\n1 qid:2 1:1\n", "auto", 2, "expected feature:value, found 'qid:2'"),
        ("1 1:1\n1.5 1:1\n", "auto", 2, "expected label ids"),
        ("1 1:1\n1 1:x\n", "auto", 2, "no finite number"),
        ("1 1:1\n1 1: #\n", "auto", 2, "no finite number"),
        ("1 1:1\n1, # c\n", "auto", 2, "expected label ids"),
        ("1 1:1\n1 0:1\n", False, 2, "feature id out of range in '0:1', ids run from 1"),
        ("1 3000000000:1\n", True, 1, "feature id out of range"),
        ("# nothing\n\n", "auto", None, "has no instances"),
    ],
)
def test_malformed_files_are_refused_with_the_line(tmp_path, text, zero_based, line, message):
    path = tmp_path / "file.txt"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        svmlight.read(path, zero_based)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{path}{'' if line is None else f', line {line}'}: ")
