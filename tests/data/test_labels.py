"""Label lists to label matrices."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

from ovaflow.data.labels import NamedLabels, NumberedLabels

names = st.text(max_size=3)
lists = st.lists(st.lists(names, max_size=5), max_size=8)


@given(lists, lists)
def test_names_as_scikit_learn_binarizes_them(train, test):
    labels = NamedLabels()
    for row in train:
        labels.add_train(row)
    for row in test:
        labels.add_test(row)
    ours_names, ours_train, ours_test, counts = labels.finish()
    binarizer = MultiLabelBinarizer().fit(train)
    assert ours_names == list(binarizer.classes_)
    np.testing.assert_array_equal(ours_train.to_scipy().toarray(), binarizer.transform(train))
    known = [[label for label in row if label in ours_names] for row in test]
    np.testing.assert_array_equal(ours_test.to_scipy().toarray(), binarizer.transform(known))
    assert counts["test_labels_unknown_in_train"] == sum(map(len, test)) - sum(map(len, known))
    for matrix in (ours_train, ours_test):
        assert all((np.diff(matrix.indices[a:b]) > 0).all() for a, b in pairwise(matrix.indptr))
        assert (matrix.data == 1).all()


def test_numbers():
    labels = NumberedLabels(["a", "b", "c"])
    labels.add_train(["2", "0", "02"])
    labels.add_train([])
    labels.add_test(["1"])
    given_names, train, test, _ = labels.finish()
    assert given_names == ["a", "b", "c"]
    np.testing.assert_array_equal(train.to_scipy().toarray(), [[1, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(test.to_scipy().toarray(), [[0, 1, 0]])
