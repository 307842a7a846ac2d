"""Records set aside for testing: near twins, groups and repeated ids; and the last ones."""

import re
from collections import Counter
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from commands import ovaflow
from hypothesis import given
from hypothesis import strategies as st
from naive import jaccard, tokens
from records import write_records
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import MultiLabelBinarizer

from ovaflow.dataset.dataset import open_dataset
from ovaflow.dataset.hold_out import hold_out
from ovaflow.labels.matrix import NamedLabels
from ovaflow.reading.cells import parse_time
from ovaflow.reading.instances import TextInstance
from ovaflow.records.collected import collect_records
from ovaflow.records.drawing import is_far_from_share
from ovaflow.records.near_twins import MIN_COMMON_FEATURES, MIN_JACCARD, find_near_twins
from ovaflow.records.splitting import hold_out_stratified, split_records
from ovaflow.records.units import number_copies
from ovaflow.settings.prepare import PrepareSource
from ovaflow.sparse.csr import from_scipy

LIMITS = "--min-df=1 --max-df=1.0 "
TABLE = f"--format=csv --train=all.csv {LIMITS}"


def make_texts(n, seed=0) -> list[str]:
    """Make texts of 30 words that have little in common."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        words = [f"word{number}" for number in rng.integers(0, 900, 30)]
        rows.append(" ".join(words))
    return rows


def make_recurring_texts(n) -> list[str]:
    """Make short texts of which most recur."""
    numbers = np.random.default_rng(0).integers(60, size=n)
    return [f"title{number} job{number}" for number in numbers]


def write_table(texts, path="all.csv", **columns) -> None:
    """Write records r0, r1 and so on, whose labels are a and b in turn."""
    columns = {"labels": "ab" * len(texts)} | columns
    records = []
    for i, text in enumerate(texts):
        record = {"id": f"r{i}", "text": text}
        for name, values in columns.items():
            record[name] = values[i]
        records.append(record)
    write_records(path, records)


def list_names(dataset) -> tuple[list[str], list[str]]:
    """List the names of the training and of the test records."""
    train = dataset.records("train", range(dataset.n_documents))
    test = dataset.records("test", range(dataset.test.X.n_rows))
    return train, test


def parse_numbers(names) -> set[int]:
    return {int(re.search(r"\d+$", name)[0]) for name in names}


def list_numbers(dataset) -> tuple[set[int], set[int]]:
    """List the numbers of the training and of the test records."""
    train, test = list_names(dataset)
    return parse_numbers(train), parse_numbers(test)


def test_near_twins_are_on_one_side(prepare) -> None:
    texts = make_texts(200)
    for i in range(120):
        beginning = texts[i % 60].rsplit(maxsplit=3)[0]
        texts.append(f"{beginning} volume{i} part{i}")
    write_table(texts)
    dataset = prepare(TABLE)
    train, test = list_numbers(dataset)
    assert sorted([*train, *test]) == list(range(320))
    assert 30 < len(test) < 110
    alike = jaccard(CountVectorizer(binary=True).fit_transform(texts).toarray())
    assert alike[np.ix_(list(test), list(train))].max() < MIN_JACCARD
    assert not dataset.test.twins.any()


def test_ready_made_near_twins_are_on_one_side(prepare) -> None:
    X = (np.random.default_rng(0).random((260, 900)) < 0.03) * 1.0
    X[200:] = X[:60]
    X[200:, :20] = np.eye(1, 20)
    dump_svmlight_file(X, np.arange(260) % 3, "all.svm", zero_based=False)
    line = "--format=svmlight --train=all.svm"
    _, test = list_numbers(prepare(line))
    assert 20 < len(test) < 90
    assert list_numbers(prepare(line, "--seed=1"))[1] != test
    for number in range(1, 61):
        assert (number in test) == (number + 200 in test)


def test_texts_without_a_word_are_drawn_one_by_one(prepare) -> None:
    write_table([*make_texts(420), *["", " ", "?!", "2019", "x"] * 36])
    for seed in range(6):
        dataset = prepare(TABLE, f"--seed={seed}")
        # binomial: mean 36, standard deviation 5.4
        _, test = list_numbers(dataset)
        assert 18 < sum(number >= 420 for number in test) < 54
        sizes = np.diff(hold_out(dataset, 0.2, seed).test.X.indptr)
        assert 0.13 < len(sizes) / dataset.n_documents < 0.27
        assert 12 < (sizes == 1).sum() < 48


def test_empty_rows_are_drawn_one_by_one(prepare) -> None:
    rows = ["0 1:1 2:1"] * 40
    rows += [f"1 {i}:1 {i + 1}:2" for i in range(3, 163)]
    rows += ["1"] * 200
    Path("all.svm").write_text("\n".join(rows))
    for seed in range(4):
        _, test = list_numbers(prepare(f"--format=svmlight --train=all.svm --seed={seed}"))
        assert sum(number <= 40 for number in test) in (0, 40)
        assert 20 < sum(number > 200 for number in test) < 60


WORDS = ["Bees", "honey", "HONEY", "Größe", "wax", "蜜蜂", "12", "a", "of"]


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=4), min_size=1, max_size=60),
    st.integers(0, 3),
)
def test_copies_are_never_parted(rows, seed) -> None:
    marks = [" ", ", ", "/", ". "]
    instances = []
    for i, words in enumerate(rows):
        text = marks[i % 4].join(words) + marks[i % 3]
        instances.append(TextInstance(text))
    records = collect_records(instances, NamedLabels().number_of, seed).with_units("together")
    settings = PrepareSource(format="csv", test_fraction=0.5, seed=seed)
    held = split_records(records, len(rows), settings).test
    sides = {}
    for instance, is_held in zip(instances, held.tolist(), strict=True):
        words = frozenset(tokens(instance.text.casefold()))
        if words:
            assert sides.setdefault(words, is_held) == is_held


def test_copies_of_short_texts_are_noticed(prepare) -> None:
    known = [f"title{i % 9} number{i}" for i in range(60)] + ["the only", "Wax, and honey!"]
    copies = [*known[:6], "number7 Title7", "TITLE8: number8.", "and wax, honey, 12"]
    write_table([*known, "", "?"], "train.csv")
    others = ["title1 number2", "title3", "title3 number3 number4", "number9 rare", "", "?!", "12"]
    write_table([*copies, *others], "test.csv")
    # most words are in one text, so that copies have a feature or two
    line = "--format=csv --train=train.csv --test=test.csv --max-df=1.0 --min-df=2"
    assert prepare(line).test.twins.tolist() == [True] * 9 + [False] * 7
    twins = "9 of 16 test instances have a near twin in training"
    assert f"{twins}, such as a copy or another edition" in prepare.said
    write_table(copies[:8], "test.csv")
    prepare(line)
    assert "8 of 8 test instances have a near twin" in prepare.said
    assert "figures overstate the quality on new texts, and there are no others" in prepare.said


@pytest.mark.parametrize("options", ["", "--normalize --tfidf=true", "--bias=0 --no-normalize"])
def test_copies_of_short_rows_are_noticed(prepare, options) -> None:
    known = ["1:1", "1:1 5:2 7:1", "8:1 9:1 30:3 40:1", "2:1", "1:2 5:1", ""]
    others = [
        "1:1",
        "1:1 5:2 7:1",
        "1:1 5:1 7:1",
        "8:1 9:1 30:3 40:1",
        "8:1 9:1 30:3",
        "",
        "1:2 5:1",
    ]
    Path("train").write_text("".join(f"0 {row}\n" for row in known))
    Path("test").write_text("".join(f"0 {row}\n" for row in others))
    dataset = prepare(f"--format=svmlight --train=train --test=test {options}")
    assert dataset.test.twins.tolist() == [False, True, False, True, False, False, False]


def test_a_copy_in_another_group_joins_both(prepare) -> None:
    short = [f"title{i} here" for i in range(66)]
    series = ["a"] * 3 + ["b"] * 3 + [f"s{i}" for i in range(60)]
    series += ["b", ""]
    write_table([*short, short[0], short[10]], series=series)
    dataset = prepare(TABLE, "--group-column=series", "--test-fraction=0.4")
    train, test = list_numbers(dataset)
    for members in ({0, 1, 2, 3, 4, 5, 66}, {10, 67}):
        assert members <= train or members <= test
    # record 67 copies record 10 and has no series
    unit_names = {"a": "a and b", "b": "a and b", "": series[10]}
    theirs = []
    for record in list_names(dataset)[0]:
        name = series[int(record[1:])]
        theirs.append(unit_names.get(name, name))
    assert dataset.train.units.tolist() == [theirs.index(name) for name in theirs]


@pytest.mark.parametrize(
    ("split", "texts", "far"),
    [("together", make_texts(200), 30), ("random", make_recurring_texts(200), 2)],
    ids=["together", "random"],
)
def test_groups_are_never_parted_by_later_splits(prepare, split, texts, far) -> None:
    series = [f"s{i % 50}" for i in range(150)] + [""] * 50
    write_table(texts, series=series)
    dataset = prepare(TABLE, "--group-column=series", f"--split={split}")
    ovaflow("hold-out", "dataset.h5", "--output=held.h5")
    held = open_dataset("held.h5")
    for part in (dataset, held):
        train, test = list_numbers(part)
        assert len(test) == pytest.approx(len(train | test) / 5, abs=far)
        series_of_train = {series[number] for number in train}
        series_of_test = {series[number] for number in test}
        assert series_of_train & series_of_test <= {""}
    assert held.train.units.tolist() == held.units.tolist()


def test_each_record_is_drawn_by_itself(prepare) -> None:
    write_table(make_recurring_texts(200))
    dataset = prepare(TABLE, "--split=random")
    train, test = list_numbers(dataset)
    assert (len(train), len(test)) == (160, 40)
    assert dataset.test.twins.mean() > 0.8
    held = hold_out(dataset, 0.25)
    assert held.test.X.n_rows == 40
    assert np.isin(number_copies(held.test.X), number_copies(held.train.X)).mean() > 0.8


@pytest.fixture
def list_tested_rows(prepare):
    """List the numbers of the rows of features that a split sets aside, of 120 in 30 fours of
    copies.
    """
    rows = ""
    for i in range(120):
        # the first twenty rows have labels of two rows each
        label = i // 2 if i < 20 else 10 + i % 3
        rows += f"{label} 6:1 8:{1 + i // 4}\n"
    Path("all.txt").write_text(f"120 10 13\n{rows}")

    def list_tested(split) -> set[int]:
        _, test = list_numbers(prepare(f"--format=xmc-text --train=all.txt --split={split}"))
        return test

    return list_tested


def test_rows_of_features_are_drawn_one_by_one(list_tested_rows) -> None:
    test = list_tested_rows("random")
    assert len(test) == 24
    assert len({(number - 1) // 4 for number in test}) > 12


def test_rows_of_features_are_drawn_by_labels_and_copies_stay_together(list_tested_rows) -> None:
    test = list_tested_rows("stratified")
    for number in range(1, 121):
        first_copy = (number - 1) // 4 * 4 + 1
        assert (number in test) == (first_copy in test)
    assert abs(len(test) - 24) <= 4


def test_the_last_rows_of_features_are_set_aside(list_tested_rows) -> None:
    assert list_tested_rows("last") == set(range(97, 121))


def test_rare_labels_are_on_both_sides(prepare) -> None:
    # one, two, three records and so on
    every = np.repeat(range(1, 60), range(1, 60))[:400]
    labels = np.random.default_rng(0).permutation(every).tolist()
    write_table(make_texts(400), labels=labels)
    train, test = list_numbers(prepare(TABLE, "--split=stratified"))
    assert (len(train), len(test)) == (320, 80)
    tested = Counter(labels[number] for number in test)
    for label, amount in Counter(labels).items():
        expected = min(max(1, amount / 5), amount - 1)
        assert amount == 1 or tested[label] == pytest.approx(expected, abs=1)
    assert "no test record" not in prepare.said
    prepare(f"{TABLE}--split=stratified --test-fraction=0.05")
    told = (
        "7 of 27 labels of two records or more have no test record: "
        "with a larger test_fraction more of them have"
    )
    assert told in prepare.said


LABELS_AND_GROUPS = st.tuples(st.sets(st.integers(0, 12), max_size=4), st.integers(0, 5))


@given(
    st.lists(LABELS_AND_GROUPS, min_size=1, max_size=60),
    st.floats(0.05, 0.6),
    st.integers(0, 9),
)
def test_a_stratified_share_has_no_room_for_more(rows, fraction, seed) -> None:
    # a few groups, and records by themselves
    groups = np.array([i if group else min(i, 3) for i, (_, group) in enumerate(rows)])
    Y = MultiLabelBinarizer(classes=range(13)).fit_transform(labels for labels, _ in rows)
    sparse = scipy.sparse.csr_array(Y * 1.0)
    held, n_untested, n_several = hold_out_stratified(groups, sparse, fraction, seed)
    members = (np.unique(groups)[:, None] == groups) * 1
    sizes = members.sum(axis=1)
    n_held = members @ held
    has_label = members @ Y > 0
    is_tested = n_held > 0
    assert (n_held == sizes * is_tested).all()
    train = has_label[~is_tested].sum(axis=0)
    test = has_label[is_tested].sum(axis=0)
    is_several = train + test > 1
    assert train[is_several].all()
    assert (n_untested, n_several) == ((test[is_several] == 0).sum(), is_several.sum())
    room = round(fraction * len(rows)) - held.sum()
    assert room >= 0
    # a group for training does not fit, or is the last of a label
    is_last = (has_label & is_several & (train == 1)).any(axis=1)
    assert (is_tested | (sizes > room) | is_last).all()


@pytest.mark.parametrize("path", ["all.csv", "all.jsonl"])
def test_a_column_says_what_is_for_testing(prepare, path) -> None:
    parts = ["train", "Training", "TEST", "dev", " val ", "valid", "validation", "test"] * 5
    write_table(make_texts(40), path, part=parts)
    dataset = prepare(f"--format={path[4:]} --train={path} --split-column=part {LIMITS}")
    assert "10 training, 20 dev and 10 test instances" in prepare.said
    train, test = list_numbers(dataset)
    assert train == {number for number in range(40) if number % 8 in (0, 1)}
    assert test == {number for number in range(40) if number % 8 in (2, 7)}


YEARS = {"year": ["2001", "c1998", *["2002"] * 8]}
PARTS = "--split-column=year"
TESTED = ["test"] * 8
OTHER = "not train, test or dev; for numbers and dates set split: last"


@pytest.mark.parametrize(
    ("columns", "options", "told"),
    [
        ({"year": ["train", "2001", *TESTED]}, PARTS, f"line 3: split_column is '2001', {OTHER}"),
        ({"year": ["train", "", *TESTED]}, PARTS, f"line 3: split_column is empty, {OTHER}"),
        (
            {"year": ["train", "holdout", *TESTED]},
            PARTS,
            f"line 3: split_column is 'holdout', {OTHER}",
        ),
        ({"year": ["dev", "dev", *TESTED]}, PARTS, "no record is train in the column year; mark"),
        (
            {"year": ["dev", "dev", *["train"] * 8]},
            PARTS,
            "no record is test in the column year; mark",
        ),
        (
            YEARS,
            "--split=last --split-column=year",
            "all.csv, line 3: 'c1998' is neither a number nor an ISO date",
        ),
        (
            YEARS,
            "--split-column=year --split=random",
            "(year) divides the records itself; leave out split: random",
        ),
        (
            YEARS,
            "--group-column=journal",
            "no column 'journal', there are 'id', 'text', 'labels', 'year'; set",
        ),
        (
            {"year": [""] * 10},
            "--split=last --split-column=year",
            "no record has a value in the column year",
        ),
        (
            {"year": ["one"] * 10},
            "--group-column=year",
            "0 of 10 records would be for testing with this group_column",
        ),
    ],
)
def test_what_cannot_be_split_is_refused(prepare, columns, options, told) -> None:
    write_table(make_texts(10), **columns)
    assert told in prepare(TABLE + options, status=2)


SHORT_COPIES = (
    "records have the words of another one, and such records are never parted: "
    "if new records, too, will repeat known texts, as job titles and queries do, "
    "split: random measures that"
)


@pytest.mark.parametrize(
    ("n_recurring", "split", "twins", "is_told"),
    [
        (60, "together", 0, False),
        (200, "together", 0, True),
        # what random measures: two thirds of new records are known texts
        (200, "random", 0.65, False),
    ],
)
def test_short_texts_that_recur_are_told(prepare, n_recurring, split, twins, is_told) -> None:
    write_table([*make_recurring_texts(n_recurring), *make_texts(300 - n_recurring)])
    dataset = prepare(TABLE, f"--split={split}")
    assert dataset.test.twins.mean() == pytest.approx(twins, abs=0.1 * twins)
    assert (SHORT_COPIES in prepare.said) == is_told


FAR = r"(\d+) of 300 records are set aside for testing instead of about 60: "


@pytest.mark.parametrize("split", ["together", "stratified"])
def test_a_share_far_from_the_one_asked_for_is_told(prepare, split) -> None:
    write_table([*make_texts(150), *["annual report"] * 150])
    reason = r"records that are alike stay together \(up to 150\); split: random draws each record by itself"
    alike = re.compile(FAR + reason)
    for seed in range(3):
        amount = prepare(TABLE, f"--split={split}", f"--seed={seed}").test.X.n_rows
        told = alike.search(prepare.said)
        assert told is None if amount in range(45, 76) else int(told[1]) == amount
    assert prepare(TABLE, "--split=random").test.X.n_rows == 60
    assert "instead of about" not in prepare.said


def test_a_share_far_off_because_of_groups_is_told(prepare) -> None:
    series = [f"s{max(i % 8 - 3, 0)}" for i in range(300)]
    write_table(make_texts(300), series=series, year=[*range(150)] * 2)
    told = (
        FAR
        + r"records of a group, and those .* \(up to 152\); choose a group_column with more values"
    )
    for seed, amount in enumerate((189, 37, 152)):
        assert prepare(TABLE, "--group-column=series", f"--seed={seed}").test.X.n_rows == amount
        assert int(re.search(told, prepare.said)[1]) == amount
    assert 40 < prepare(TABLE, "--group-column=year").test.X.n_rows < 80
    assert "instead of about" not in prepare.said


@pytest.mark.parametrize("seed", range(3))
def test_a_hold_out_far_from_the_share_asked_for_is_told(prepare, seed) -> None:
    write_table([*make_texts(150), *["annual report"] * 150])
    write_table(make_texts(5, seed=1), "test.csv")
    for split, told in (
        (
            "together",
            "remark: about 60 were expected: records that are alike stay together; "
            "split: random draws each record by itself",
        ),
        ("random", "60 of 300 training instances held out"),
    ):
        prepare(TABLE, f"--split={split}", "--test=test.csv", "--no-label-names")
        said = ovaflow("hold-out", "dataset.h5", f"--seed={seed}", "--output=held.h5")
        assert told in said
        assert ("were expected" in said) == (split == "together")


@pytest.mark.parametrize("n", [40, 300, 5000])
def test_chance_is_not_far(n) -> None:
    amounts = np.random.default_rng(0).binomial(n, 0.2, 2000)
    assert np.mean([is_far_from_share(amount, n, 0.2) for amount in amounts]) < 0.01
    for amount in (0, n, n // 2):
        assert is_far_from_share(amount, n, 0.2)
    assert not is_far_from_share(0, n, 0.1 / n)


YEARS_OF_98 = [7 * i % 20 for i in range(98)]
LATEST_30_OF_98 = sorted(range(98), key=YEARS_OF_98.__getitem__)[-30:]
DAYS_OF_24 = [f"2024-{1 + i % 12:02}-09" for i in range(24)]


@pytest.mark.parametrize(
    ("years", "options", "test"),
    [
        ([""] * 100, "--split=last", range(80, 100)),
        (
            [*YEARS_OF_98, "", ""],
            "--split=last --split-column=year --test-fraction=0.3",
            LATEST_30_OF_98,
        ),
        (
            DAYS_OF_24,
            "--split=last --split-column=year --test-fraction=0.25",
            [9, 10, 11, 21, 22, 23],
        ),
    ],
)
def test_the_last_records_are_set_aside(prepare, years, options, test) -> None:
    write_table(make_texts(len(years)), year=years)
    assert list_numbers(prepare(TABLE + options))[1] == set(test)


@given(st.lists(st.datetimes(), min_size=2, max_size=2).map(sorted))
def test_dates_compare_as_dates(moments) -> None:
    earlier, later = (parse_time(each.isoformat()) for each in moments)
    assert earlier <= later or (moments[1] - moments[0]).total_seconds() < 1
    assert int(earlier) == moments[0].year


def test_what_is_compared() -> None:
    for year in ("2020", 2020, "2020-01", "2020-01-01", datetime(2020, 1, 1)):
        assert parse_time(year) == 2020
    assert parse_time("2021-01-01T01:00:00+02:00") < parse_time("2020-12-31T23:59:59Z") < 2021
    for empty in ("", None, float("nan"), " "):
        assert parse_time(empty) is None


def test_near_twins_of_others_are_those_with_common_features() -> None:
    rng = np.random.default_rng(0)
    others = (rng.random((300, 1000)) < 0.03) * 1.0
    X = others[rng.integers(0, 300, 200)] * (rng.random((200, 1000)) > rng.random((200, 1)) * 0.4)
    Z = np.vstack([X, others])
    are_twins = (jaccard(Z) >= MIN_JACCARD) & (Z @ Z.T >= MIN_COMMON_FEATURES)
    theirs = are_twins[:200, 200:].any(axis=1)
    ours = find_near_twins(from_scipy(X), from_scipy(others))
    assert 60 < theirs.sum() < 180
    assert not (ours & ~theirs).any()
    assert (theirs & ~ours).sum() <= 0.03 * theirs.sum()


def test_corrected_records(prepare) -> None:
    old = make_texts(40)
    write_table(old, "2023.csv")
    write_table(old[:9], "2024.csv", labels="cccccccba")
    line = f"--format=csv --train=*.csv {LIMITS}"
    dataset = prepare(line)
    for told in (
        "7 ids occur more than once with different labels, such as r0; their texts are the same",
        "repeated: join makes one record of each",
        "after corrections, repeated: last keeps the last record",
    ):
        assert told in prepare.said
    assert dataset.n_documents + dataset.test.X.n_rows == 49
    dataset = prepare(line, "--repeated=last", "--split=last", "--test-fraction=0.1")
    assert "9 records whose id occurs again later: left out" in prepare.said
    assert "with different labels" not in prepare.said
    train, test = list_names(dataset)
    assert test == [f"2024.csv, r{i}" for i in range(5, 9)]
    uncorrected = [f"2023.csv, r{i}" for i in range(9, 40)]
    corrected = [f"2024.csv, r{i}" for i in range(5)]
    assert train == uncorrected + corrected
    assert dataset.documents.train.Y.indices.tolist() == [1, 0] * 15 + [1] + [2] * 5


def test_texts_that_differ_are_not_said_to_be_the_same(prepare) -> None:
    old = make_texts(40)
    write_table(old, "2023.csv")
    write_table([*old[:7], *make_texts(2, seed=1)], "2024.csv", labels="ccccccccc")
    prepare(f"--format=csv --train=*.csv {LIMITS}")
    told = (
        "9 ids occur more than once with different labels, such as r0; "
        "the texts of 7 of them are the same, as in"
    )
    assert told in prepare.said


@pytest.mark.parametrize("split", ["together", "random", "stratified"])
def test_a_seed_makes_the_same_division_again(prepare, split) -> None:
    write_table(make_texts(200))
    line = f"{TABLE}--split={split}"
    first = list_numbers(prepare(line))
    assert list_numbers(prepare(line, "--threads=2")) == first
    assert list_numbers(prepare(line, "--seed=1")) != first
