"""Numbers and categories next to a text become the features that scikit-learn makes of them."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import write_records
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ovaflow.dataset.hold_out import draw_held_out_documents
from ovaflow.features.columns import ColumnFeatures, select_text_features

SETTINGS = SimpleNamespace(
    number_columns="price,pages", category_columns="publisher", weight_beside_text=0.5
)
numbers = st.integers(-40, 40).map(lambda number: number / 4)
rows = st.lists(
    st.tuples(numbers | st.just(np.nan), numbers, st.sampled_from(["", "a", "b", "c=", "d"])),
    min_size=2,
    max_size=20,
)


def make_table(records) -> np.ndarray:
    table = np.empty((len(records), 3), object)
    table[:] = records
    return table


@settings(max_examples=30)
@given(numbers, rows, rows)
def test_features_are_those_of_scikit_learn(price, training, others) -> None:
    training = [(price, 1.0, "a"), *training]
    ours = ColumnFeatures.fit(training, SETTINGS)
    table = make_table(training)
    low = np.nanmin(table[:, :2].astype(float), axis=0)
    high = np.nanmax(table[:, :2].astype(float), axis=0)
    encoder = OneHotEncoder(handle_unknown="ignore", min_frequency=2)
    parts = [("numbers", StandardScaler(), [0, 1]), ("categories", encoder, [2])]
    theirs = ColumnTransformer(parts, sparse_threshold=0).fit(table)
    categories = [name.removeprefix("x0_") for name in theirs["categories"].get_feature_names_out()]
    for records in (training, others):
        table = make_table(records)
        missing = np.isnan(table[:, 0].astype(float))
        table[:, :2] = np.clip(table[:, :2].astype(float), low, high)
        expected = np.nan_to_num(theirs.transform(table).astype(float))
        columns = {
            "price (number)": expected[:, 0],
            "price (missing)": missing,
            "pages (number)": expected[:, 1],
        }
        for number, category in enumerate(categories, 2):
            name = f"publisher={category}" if category else "publisher (missing)"
            columns[name] = expected[:, number]
        found = ours.transform(records, len(records)).to_scipy().toarray().T
        for name, values in zip(ours.features, found, strict=True):
            np.testing.assert_allclose(values, 0.5 * columns.pop(name), rtol=1e-5, atol=1e-6)
        # a value that no training record lacks is not marked, nor are categories of one record
        assert {*columns} <= {"price (missing)", "publisher=infrequent_sklearn"}
    again = ColumnFeatures.from_parameters({"columns": ours.parameters}, ["word", *ours.features])
    assert again == ours


def make_record(number, **more) -> dict:
    words = " ".join(f"word{(number * step) % 23}" for step in range(1, 8))
    price = None if number % 9 == 0 else number % 7 + 0.5
    values = {
        "text": words,
        "labels": [f"word{number % 3}"],
        "price": price,
        "publisher": f"p{number % 4}",
    }
    return values | more


OPTIONS = "--train=train.jsonl --format=jsonl --split=random --min-df=1"
COLUMNS = "--number-columns=price --category-columns=publisher"


@pytest.fixture
def prepared(prepare):
    write_records("train.jsonl", [make_record(number) for number in range(60)])
    return lambda *options: prepare(OPTIONS, *options)


def test_features_of_columns_follow_those_of_texts(prepared, prepare) -> None:
    theirs = prepared()
    of_words_alone = list(theirs.feature_names)
    ours = prepared(*COLUMNS.split(), "--weight-beside-text=0.25")
    assert "'price', 0.5 to 6.5, 7 missing" in prepare.said
    names = ["price (number)", "price (missing)", *(f"publisher=p{each}" for each in range(4))]
    assert ours.feature_names == [*of_words_alone, *names]
    assert ours.bias_feature == ours.n_features - 1
    for part in ("train", "test"):
        our_words = select_text_features(getattr(ours, part).X, ours.parameters)
        their_words = select_text_features(getattr(theirs, part).X, theirs.parameters)
        for left, right in zip(our_words.arrays, their_words.arrays, strict=True):
            np.testing.assert_array_equal(left, right)
    # names of labels have no columns
    named = ours.train.X.part(ours.n_documents, ours.train.X.n_rows)
    assert select_text_features(named, ours.parameters).data.size == named.data.size > 0
    np.testing.assert_array_equal(
        draw_held_out_documents(ours, 0.3), draw_held_out_documents(theirs, 0.3)
    )


@pytest.mark.parametrize(
    ("cell", "said", "mended"),
    [
        (
            "3,50",
            "price: '3,50' is not a number; write a point for the decimal comma: 3.50",
            "3.50",
        ),
        ("cheap", "price: 'cheap' is not a number; write one, or leave the cell empty", ""),
        (1e99, "price: 1e+99 is not between -1e+15 and 1e+15; leave the cell empty if", None),
    ],
)
def test_a_cell_that_is_no_number_is_refused(prepare, cell, said, mended) -> None:
    for price, status in ((cell, 2), (mended, 0)):
        write_records(
            "train.jsonl",
            [make_record(number) for number in range(20)] + [make_record(20, price=price)],
        )
        prepare(OPTIONS, *COLUMNS.split(), status=status)
        assert (f"train.jsonl, line 21: {said}" in prepare.said) == (status == 2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            "--format=jsonl --number-columns=cost",
            "no column 'cost', there are 'text', 'labels', 'price', 'publisher'",
        ),
        (
            "--format=text-tsv --number-columns=price",
            "number_columns: next to texts in columns (csv, jsonl, ",
        ),
        ("--format=jsonl --category-columns=publisher --vector-column=v", "not with vector_column"),
    ],
)
def test_columns_that_do_not_fit_the_source_are_refused(prepare, options, said) -> None:
    write_records("train.jsonl", [make_record(number) for number in range(5)])
    prepare(f"--train=train.jsonl {options}", status=2)
    assert said in prepare.said
