"""Records set aside for testing: near twins, groups and repeated ids; and the last ones."""

import csv
import json
import re
from collections import Counter
from datetime import datetime

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from naive import jaccard, tokens

from ovaflow.cli import main
from ovaflow.data.collected import collect
from ovaflow.data.dataset import open_dataset
from ovaflow.data.hold_out import copies_of, hold_out, is_far
from ovaflow.data.labels import NamedLabels
from ovaflow.data.near_twins import FEWEST, SIMILAR, have_near_twins
from ovaflow.data.splitting import set_aside, stratified
from ovaflow.reading.cells import time_of
from ovaflow.reading.instances import TextInstance
from ovaflow.settings.prepare import PrepareSource
from ovaflow.sparse.csr import from_scipy

COLUMNS = ["id", "text", "labels", "series", "year"]


def texts(n, seed=0, words=30):
    rng = np.random.default_rng(seed)
    return [" ".join(f"word{number}" for number in rng.integers(0, 900, words)) for _ in range(n)]


def edition(text, number):
    return text.rsplit(maxsplit=3)[0] + f" volume{number} part{number}"


def records(texts, **columns):
    """Rows of a table, whose labels are a and b in turn."""
    rows = [{"id": f"r{i}", "text": text, "labels": "ab"[i % 2]} for i, text in enumerate(texts)]
    for name, values in columns.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = value
    return rows


def write(path, rows):
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)


def prepare(folder, *options, status=0, format="csv", train="all.csv"):
    output = folder / "dataset.h5"
    files = [f"--format={format}", f"--train={folder / train}", f"--output={output}"]
    assert main(["prepare", *files, "--min-df=1", "--max-df=1.0", *options]) == status
    return open_dataset(output) if status == 0 else None


def ids(dataset):
    """Ids of the training and of the test records."""
    amounts = {"train": dataset.n_documents, "test": dataset.test.X.n_rows}
    return [set(dataset.records(part, range(amount))) for part, amount in amounts.items()]


def test_near_twins_are_on_one_side(tmp_path):
    first = texts(200)
    rows = records([*first, *(edition(first[i % 60], i) for i in range(120))])
    write(tmp_path / "all.csv", rows)
    dataset = prepare(tmp_path)
    train, test = ids(dataset)
    assert (len(train) + len(test), 30 < len(test) < 110) == (320, True)
    bags = {row["id"]: set(tokens(row["text"])) for row in rows}
    for one in test:
        for other in train:
            both = len(bags[one] & bags[other])
            assert both < SIMILAR * len(bags[one] | bags[other])
    assert not dataset.test.twins.any()
    assert ids(prepare(tmp_path, "--threads=2")) == [train, test]
    assert ids(prepare(tmp_path, "--seed=1")) != [train, test]


def test_ready_made_near_twins_are_on_one_side(tmp_path):
    rng = np.random.default_rng(0)
    rows = [sorted(rng.choice(900, 30, replace=False)) for _ in range(200)]
    rows += [[*row[:28], 900] for row in rows[:60]]
    lines = [f"{i % 3} " + " ".join(f"{column}:1" for column in row) for i, row in enumerate(rows)]
    (tmp_path / "all.txt").write_text("260 901 3\n" + "\n".join(lines) + "\n")
    _, test = ids(prepare(tmp_path, format="xmc-text", train="all.txt"))
    assert len(test) > 20
    for i in range(60):
        assert (f"record {i + 1}" in test) == (f"record {i + 201}" in test)


def test_texts_without_a_word_are_drawn_one_by_one(tmp_path):
    empty = ["", " ", "?!", "2019", "x"]
    write(tmp_path / "all.csv", records([*texts(420), *(empty[i % 5] for i in range(180))]))
    for seed in range(6):
        dataset = prepare(tmp_path, f"--seed={seed}")
        test = {int(each[1:]) for each in ids(dataset)[1]}
        # binomial: mean 36, standard deviation 5.4
        assert 18 < len([i for i in test if i >= 420]) < 54
        held = hold_out(dataset, 0.2, seed)
        sizes = np.diff(held.test.X.indptr)
        assert 0.13 < len(sizes) / dataset.n_documents < 0.27
        assert 12 < (sizes == 1).sum() < 48


def test_empty_rows_are_drawn_one_by_one(tmp_path):
    rows = ["0 1:1 2:1"] * 40 + [f"1 {i}:1 {i + 1}:2" for i in range(3, 163)] + ["1"] * 200
    (tmp_path / "all.svm").write_text("\n".join(rows) + "\n")
    for seed in range(4):
        dataset = prepare(tmp_path, f"--seed={seed}", format="svmlight", train="all.svm")
        test = {int(each.split()[1]) for each in ids(dataset)[1]}
        assert len([i for i in test if i <= 40]) in (0, 40)
        assert 20 < len([i for i in test if i > 200]) < 60


WORDS = ["Bees", "honey", "HONEY", "Größe", "wax", "蜜蜂", "12", "a", "of"]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=4), min_size=1, max_size=60), st.integers(0, 3))
def test_copies_are_never_parted(rows, seed):
    ends = [" ", ", ", "/", ". "]
    instances = [TextInstance(ends[i % 4].join(words) + ends[i % 3]) for i, words in enumerate(rows)]
    records = collect(instances, NamedLabels(), seed)
    held = set_aside(records, len(rows), PrepareSource(format="csv", test_fraction=0.5, seed=seed)).test
    sides = {}
    for instance, side in zip(instances, held.tolist(), strict=True):
        words = frozenset(tokens(instance.text.casefold()))
        if words:
            assert sides.setdefault(words, side) == side


def test_copies_of_short_texts_are_noticed(tmp_path, capsys):
    known = [f"title{i % 9} number{i}" for i in range(60)] + ["the only", "Wax, and honey!"]
    copies = [*known[:6], "number7 Title7", "TITLE8: number8.", "wax AND honey (2nd 3)", "and wax, honey, 12"]
    others = ["title1 number2", "title3", "title3 number3 number4", "number9 rare", "", "?!", "12"]
    write(tmp_path / "train.csv", records([*known, "", "?"]))
    write(tmp_path / "test.csv", records([*copies[:8], copies[9], *others]))
    # most words are in one text, so that copies have a feature or two
    options = "--min-df=2", f"--test={tmp_path / 'test.csv'}"
    dataset = prepare(tmp_path, *options, train="train.csv")
    assert dataset.test.twins.tolist() == [True] * 9 + [False] * 7
    remark = "9 of 16 test instances have a near twin in training, such as a copy or another edition"
    assert remark in capsys.readouterr().out
    write(tmp_path / "test.csv", records(copies[:8]))
    prepare(tmp_path, *options, train="train.csv")
    assert "8 of 8 test instances have a near twin" in (told := capsys.readouterr().out)
    assert "figures contain some memory, and there are no others" in told


@pytest.mark.parametrize("options", [(), ("--normalize", "--tfidf=true"), ("--bias=0", "--no-normalize")])
def test_copies_of_short_rows_are_noticed(tmp_path, options):
    known = ["1:1", "1:1 5:2 7:1", "8:1 9:1 30:3 40:1", "2:1", "1:2 5:1", ""]
    others = ["1:1", "1:1 5:2 7:1", "1:1 5:1 7:1", "8:1 9:1 30:3 40:1", "8:1 9:1 30:3", "", "1:2 5:1"]
    for name, rows in ("train", known), ("test", others):
        (tmp_path / f"{name}.svm").write_text("".join(f"0 {row}\n" for row in rows))
    dataset = prepare(tmp_path, *options, f"--test={tmp_path / 'test.svm'}", format="svmlight", train="train.svm")
    assert dataset.test.twins.tolist() == [False, True, False, True, False, False, False]


def test_short_copies_and_groups_are_on_one_side(tmp_path):
    short = [f"title{i} here" for i in range(150)]
    series = [f"series {i // 3}" if i < 90 else "" for i in range(150)]
    # a copy in another series joins both
    write(tmp_path / "all.csv", records([*short, *short[:30]], series=[*series, *["series 40"] * 3, *[""] * 27]))
    dataset = prepare(tmp_path, "--group-column=series", "--test-fraction=0.4")
    train, test = ids(dataset)
    for part in (train, test):
        members = {int(each[1:]) for each in part}
        for i in range(30):
            assert (i in members) == (150 + i in members)
        for i in range(90):
            assert (i in members) == (i // 3 * 3 in members)
    assert len({"r0", "r150", "r151", "r152"} & test) in (0, 4)
    groups = {}
    for record, group in zip(dataset.records("train", range(len(train))), dataset.train.groups, strict=True):
        name = (series + ["series 40"] * 3 + [""] * 27)[int(record[1:])]
        assert (group < 0) == (name == "")
        assert groups.setdefault(group, name) == name
    assert len(set(groups.values())) == len(groups)


def test_groups_are_never_parted_by_later_splits(tmp_path):
    series = [f"s{i % 25}" for i in range(300)]
    write(tmp_path / "all.csv", records(texts(300), series=series))
    dataset = prepare(tmp_path, "--group-column=series")
    assert main(["hold-out", str(dataset.path), f"--output={tmp_path / 'held.h5'}"]) == 0
    for part in (dataset, open_dataset(tmp_path / "held.h5")):
        train, test = ({series[int(each[1:])] for each in some} for some in ids(part))
        assert train
        assert test
        assert not train & test
    assert open_dataset(tmp_path / "held.h5").train.groups is None
    assert prepare(tmp_path).train.groups is None


def recurring(n, titles=60):
    """Short texts of which most recur."""
    numbers = np.random.default_rng(0).integers(titles, size=n)
    return [f"title{number} job{number}" for number in numbers]


def test_each_record_is_drawn_by_itself(tmp_path):
    write(tmp_path / "all.csv", records(recurring(200)))
    dataset = prepare(tmp_path, "--split=random")
    train, test = ids(dataset)
    assert (len(train), len(test)) == (160, 40)
    assert ids(prepare(tmp_path, "--split=random")) == [train, test]
    assert ids(prepare(tmp_path, "--split=random", "--seed=1")) != [train, test]
    assert dataset.test.twins.mean() > 0.8
    held = hold_out(dataset, 0.25)
    assert held.test.X.n_rows == 40
    assert np.isin(copies_of(held.test.X), copies_of(held.train.X)).mean() > 0.8
    assert not prepare(tmp_path).test.twins.any()


def test_groups_are_drawn_at_random_as_one(tmp_path):
    series = [f"s{i % 50}" if i < 150 else "" for i in range(200)]
    write(tmp_path / "all.csv", records(recurring(200), series=series))
    dataset = prepare(tmp_path, "--split=random", "--group-column=series")
    held = hold_out(dataset, 0.2)
    for part, share in ((dataset, 40), (held, len(held.train.records + held.test.records) / 5)):
        train, test = ({int(each[1:]) for each in some} for some in (part.train.records, part.test.records))
        if part is dataset:
            train, test = ({int(each[1:]) for each in some} for some in ids(dataset))
        assert abs(len(test) - share) < 3
        assert not {i % 50 for i in train if i < 150} & {i % 50 for i in test if i < 150}


@pytest.mark.parametrize(("format", "line"), [("svmlight", "{} 7:1 9:{}\n"), ("xmc-text", "{} 6:1 8:{}\n")])
def test_ready_made_features_are_drawn_one_by_one_or_by_labels(tmp_path, format, line):
    lines = [line.format(i // 2 if i < 20 else 10 + i % 3, 1 + i // 4) for i in range(120)]
    (tmp_path / "all.txt").write_text("120 10 13\n" * (format == "xmc-text") + "".join(lines))
    files = {"format": format, "train": "all.txt"}
    _, test = ids(prepare(tmp_path, "--split=random", **files))
    assert len(test) == 24
    numbers = [int(each.split()[1]) - 1 for each in test]
    assert len({number // 4 for number in numbers}) > 12
    dataset = prepare(tmp_path, "--split=stratified", **files)
    test = {int(each.split()[1]) - 1 for each in ids(dataset)[1]}
    # copies, of four or, of different labels, of two records, stay together
    assert all((i in test) == (i // 4 * 4 in test) for i in range(120))
    assert abs(len(test) - 24) <= 4


def long_tail(n):
    """Labels of one, two, three records and so on."""
    labels = [f"l{length}" for length in range(1, 60) for _ in range(length)]
    return np.random.default_rng(0).permutation(labels[:n]).tolist()


def test_rare_labels_are_on_both_sides(tmp_path, capsys):
    rows = [row | {"labels": label} for row, label in zip(records(texts(400)), long_tail(400), strict=True)]
    write(tmp_path / "all.csv", rows)
    amounts = Counter(row["labels"] for row in rows)
    dataset = prepare(tmp_path, "--split=stratified")
    train, test = ids(dataset)
    assert (len(train), len(test)) == (320, 80)
    sides = [Counter(row["labels"] for row in rows if row["id"] in part) for part in (train, test)]
    for label, amount in amounts.items():
        if amount > 1:
            assert sides[0][label] >= 1
            assert sides[1][label] == pytest.approx(max(1, amount / 5), abs=1)
    assert ids(prepare(tmp_path, "--split=stratified")) == [train, test]
    assert ids(prepare(tmp_path, "--split=stratified", "--seed=1")) != [train, test]
    assert "no test record" not in capsys.readouterr().out
    told = (
        r"(\d+) of 27 labels of two records or more have no test record: with a larger test_fraction more of them have"
    )
    prepare(tmp_path, "--split=stratified", "--test-fraction=0.05")
    assert int(re.search(told, capsys.readouterr().out)[1]) == 27 - 20
    prepare(tmp_path, "--split=stratified", "--test-fraction=0.1")
    assert "no test record" not in capsys.readouterr().out


@given(
    st.lists(st.tuples(st.sets(st.integers(0, 12), max_size=4), st.integers(0, 5)), min_size=1, max_size=60),
    st.floats(0.05, 0.6),
    st.integers(0, 9),
)
def test_a_stratified_share_has_no_room_for_more(rows, fraction, seed):
    n = len(rows)
    # a few groups, and records by themselves
    groups = np.array([i if group else min(i, 3) for i, (_, group) in enumerate(rows)])
    Y = scipy.sparse.lil_array((n, 13))
    for i, (labels, _) in enumerate(rows):
        Y[i, list(labels)] = 1
    held, without, several = stratified(groups, Y.tocsr(), fraction, seed)
    units = {}
    for i, group in enumerate(groups.tolist()):
        units.setdefault(group, []).append(i)
    names = {group: set().union(*(rows[i][0] for i in members)) for group, members in units.items()}
    sides = {group: set(held[members].tolist()) for group, members in units.items()}
    assert all(len(side) == 1 for side in sides.values())
    train = Counter(label for group in units if sides[group] == {False} for label in names[group])
    amounts = Counter(label for group in units for label in names[group])
    twice = {label for label, amount in amounts.items() if amount > 1}
    tested = {label for group in units if sides[group] == {True} for label in names[group]}
    assert twice <= set(train)
    assert (without, several) == (len(twice - tested), len(twice))
    room = round(fraction * n) - held.sum()
    assert room >= 0
    for group, members in units.items():
        if sides[group] == {False}:
            # it does not fit, or is the last of a label
            assert len(members) > room or any(train[label] == 1 for label in names[group] & twice)


def test_a_column_says_what_is_for_testing(tmp_path, capsys):
    parts = ["train", "Training", "TEST", "dev", " val ", "valid", "validation", "test"] * 5
    write(tmp_path / "all.csv", records(texts(40), series=parts))
    dataset = prepare(tmp_path, "--split-column=series")
    assert "20 records are dev in split_column: neither for training nor for testing" in capsys.readouterr().out
    train, test = ids(dataset)
    assert train == {f"r{i}" for i in range(40) if i % 8 < 2}
    assert test == {f"r{i}" for i in range(40) if i % 8 in (2, 7)}
    lines = [json.dumps(row) for row in records(texts(40), part=parts)]
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    assert ids(prepare(tmp_path, "--split-column=part", format="jsonl", train="all.jsonl")) == [train, test]


@pytest.mark.parametrize(("value", "said"), [("2001", "'2001'"), ("", "empty"), ("holdout", "'holdout'")])
def test_other_values_of_a_column_of_parts_are_refused(tmp_path, capsys, value, said):
    rows = records(texts(12), year=["train", value, *["test", "train"] * 5])
    write(tmp_path / "all.csv", rows)
    prepare(tmp_path, "--split-column=year", status=2)
    told = f"all.csv, line 3: split_column is {said}, not train, test or dev; for numbers and dates set split: last"
    assert told in capsys.readouterr().err
    write(tmp_path / "all.csv", [rows[0], rows[1] | {"year": "test"}, *rows[2:]])
    assert len(ids(prepare(tmp_path, "--split-column=year"))[1]) == 6
    write(tmp_path / "all.csv", [row | {"year": 2000 + i} for i, row in enumerate(rows)])
    assert ids(prepare(tmp_path, "--split-column=year", "--split=last"))[1] == {"r10", "r11"}


@pytest.mark.parametrize(("missing", "other"), [("test", "train"), ("train", "test")])
def test_a_column_without_a_part_is_refused(tmp_path, capsys, missing, other):
    write(tmp_path / "all.csv", records(texts(10), series=[other] * 8 + ["dev"] * 2))
    prepare(tmp_path, "--split-column=series", status=2)
    told = f"no record is {missing} in the column series; mark some in it, give a test file, or leave out split_column"
    assert told in capsys.readouterr().err
    write(tmp_path / "all.csv", records(texts(10), series=[other] * 8 + [missing] * 2))
    assert sorted(map(len, ids(prepare(tmp_path, "--split-column=series")))) == [2, 8]
    assert len(set.union(*ids(prepare(tmp_path)))) == 10


def test_short_texts_that_recur_are_told(tmp_path, capsys):
    told = "records have the words of another one, and such records are never parted: if new records, too, will repeat "
    write(tmp_path / "all.csv", records([*recurring(60), *texts(240)]))
    prepare(tmp_path)
    assert "records have the words" not in capsys.readouterr().out
    write(tmp_path / "all.csv", records([*recurring(200), *texts(100)]))
    dataset = prepare(tmp_path)
    assert told + "known texts, as job titles and queries do, split: random measures that" in capsys.readouterr().out
    assert not dataset.test.twins.any()
    dataset = prepare(tmp_path, "--split=random")
    # what it measures: two thirds of new records are known texts
    assert dataset.test.twins.mean() == pytest.approx(0.65, abs=0.1)
    assert told not in capsys.readouterr().out


FAR = r"(\d+) of 300 records are set aside for testing, not about 60: "


@pytest.mark.parametrize("split", ["together", "stratified"])
def test_a_share_far_from_the_one_asked_for_is_told(tmp_path, capsys, split):
    write(tmp_path / "all.csv", records([*texts(150), *["annual report"] * 150]))
    alike = re.compile(FAR + r"records that are alike stay together \(up to 150\); split: random draws each by itself")
    for seed in range(3):
        amount = len(ids(prepare(tmp_path, f"--split={split}", f"--seed={seed}"))[1])
        told = alike.search(capsys.readouterr().out)
        assert (told is not None) == (amount not in range(45, 76))
        assert told is None or int(told[1]) == amount
    dataset = prepare(tmp_path, "--split=random")
    assert len(ids(dataset)[1]) == 60
    assert "not about" not in capsys.readouterr().out
    write(tmp_path / "all.csv", records(texts(300)))
    prepare(tmp_path, f"--split={split}")
    assert "not about" not in capsys.readouterr().out


def test_a_share_far_off_because_of_groups_is_told(tmp_path, capsys):
    series, year = [f"s{max(i % 8 - 3, 0)}" for i in range(300)], [str(i % 150) for i in range(300)]
    write(tmp_path / "all.csv", records(texts(300), series=series, year=year))
    groups = re.compile(FAR + r"records of a group, and those .* \(up to 152\); choose a group_column with more values")
    found = 0
    for seed in range(6):
        if main(["prepare", "--format=csv", f"--train={tmp_path / 'all.csv'}", "--group-column=series",
                 f"--seed={seed}", f"--output={tmp_path / 'dataset.h5'}"]) == 0:  # fmt: skip
            amount = open_dataset(tmp_path / "dataset.h5").test.X.n_rows
            assert (groups.search(capsys.readouterr().out) is not None) == (amount not in range(39, 82))
            found += amount not in range(39, 82)
    assert found
    test = ids(prepare(tmp_path, "--group-column=year"))[1]
    assert abs(len(test) - 60) < 20
    assert "not about" not in capsys.readouterr().out


def test_a_hold_out_far_from_the_share_asked_for_is_told(tmp_path, capsys):
    write(tmp_path / "all.csv", records([*texts(150), *["annual report"] * 150]))
    write(tmp_path / "test.csv", records(texts(5, seed=1)))
    files = f"--test={tmp_path / 'test.csv'}", "--no-label-names"
    told = "remark: not about 60: records that are alike stay together; split: random draws each by itself"

    def held(seed, *options):
        dataset = prepare(tmp_path, *files, *options)
        assert main(["hold-out", str(dataset.path), f"--seed={seed}", f"--output={tmp_path / 'held.h5'}"]) == 0
        return open_dataset(tmp_path / "held.h5").test.X.n_rows

    for seed in range(3):
        assert held(seed) not in range(39, 82)
        assert told in capsys.readouterr().out
        assert held(seed, "--split=random") == 60
        assert "not about" not in capsys.readouterr().out


@pytest.mark.parametrize("n", [40, 300, 5000])
def test_chance_is_not_far(n):
    amounts = np.random.default_rng(0).binomial(n, 0.2, 2000)
    assert np.mean([is_far(amount, n, 0.2) for amount in amounts]) < 0.01
    assert is_far(0, n, 0.2)
    assert is_far(n, n, 0.2)
    assert is_far(n // 2, n, 0.2)
    assert not is_far(0, n, 0.1 / n)


def test_the_last_records_are_set_aside(tmp_path):
    years = [2001 + (7 * i) % 20 for i in range(98)] + ["", ""]
    write(tmp_path / "all.csv", records(texts(100), year=years))
    assert ids(prepare(tmp_path, "--split=last"))[1] == {f"r{i}" for i in range(80, 100)}
    test = ids(prepare(tmp_path, "--split=last", "--split-column=year", "--test-fraction=0.3"))[1]
    theirs = sorted(range(98), key=lambda i: years[i])[-30:]
    assert test == {f"r{i}" for i in theirs}
    lines = [json.dumps(row | {"year": f"2024-{1 + i % 12:02}-09"}) for i, row in enumerate(records(texts(24)))]
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    options = "--split=last", "--split-column=year", "--test-fraction=0.25"
    assert ids(prepare(tmp_path, *options, format="jsonl", train="all.jsonl"))[1] == {
        f"r{i}" for i in (9, 10, 11, 21, 22, 23)
    }


def test_columns_that_divide_nothing_are_refused(tmp_path, capsys):
    write(tmp_path / "all.csv", records(texts(50), series=["one"] * 50))
    prepare(tmp_path, "--group-column=series", status=2)
    assert "0 of 50 records would be for testing with this group_column" in capsys.readouterr().err
    prepare(tmp_path, "--split=last", "--split-column=year", status=2)
    assert "no record has a value in the column year" in capsys.readouterr().err


def test_ready_made_features_have_last_records(tmp_path):
    (tmp_path / "all.txt").write_text("10 3 2\n" + "".join(f"{i % 2} {i % 3}:{i + 1}\n" for i in range(10)))
    dataset = prepare(tmp_path, "--split=last", format="xmc-text", train="all.txt")
    assert ids(dataset)[1] == {"record 9", "record 10"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--split=last", "--split-column=year"], "all.csv, line 3: 'c1998' is neither a number nor an ISO date"),
        (
            ["--split-column=year", "--split=random"],
            "split_column (year) divides the records itself; leave out split: random",
        ),
        (["--group-column=journal"], "no column 'journal', there are 'id', 'text', 'labels', 'series', 'year'; set"),
    ],
)
def test_what_cannot_be_split_is_refused(tmp_path, capsys, options, expected):
    write(tmp_path / "all.csv", records(texts(4), year=[2001, "c1998", 2002, 2003]))
    prepare(tmp_path, *options, status=2)
    assert expected in capsys.readouterr().err


@given(st.lists(st.datetimes(), min_size=2, max_size=2))
def test_dates_compare_as_dates(pair):
    times, moments = [time_of(each.isoformat()) for each in pair], sorted(pair)
    assert (times[0] <= times[1]) or pair[0] > pair[1] or (moments[1] - moments[0]).total_seconds() < 1
    assert int(times[0]) == pair[0].year


def test_what_is_compared():
    assert [time_of(each) for each in ("2020", 2020, "2020-01", "2020-01-01", datetime(2020, 1, 1))] == [2020] * 5
    assert time_of("2021-01-01T01:00:00+02:00") < time_of("2020-12-31T23:59:59Z") < 2021
    assert [time_of(each) for each in ("", None, float("nan"), " ")] == [None] * 4


def test_near_twins_of_others_are_those_with_common_features():
    rng = np.random.default_rng(0)
    others = (rng.random((300, 1000)) < 0.03) * 1.0
    X = others[rng.integers(0, 300, 200)] * (rng.random((200, 1000)) > rng.random((200, 1)) * 0.4)
    Z = np.vstack([X, others])
    similar = (jaccard(Z) >= SIMILAR) & (Z @ Z.T >= FEWEST)
    theirs = similar[:200, 200:].any(axis=1)
    ours = have_near_twins(from_scipy(X), from_scipy(others))
    assert 60 < theirs.sum() < 180
    assert not (ours & ~theirs).any()
    assert (theirs & ~ours).sum() <= 0.03 * theirs.sum()


def test_corrected_records(tmp_path, capsys):
    old = records(texts(40))
    corrected = [row | {"labels": "c"} for row in old[:7]]
    write(tmp_path / "2023.csv", old)
    write(tmp_path / "2024.csv", [*corrected, old[8]])
    dataset = prepare(tmp_path, train="*.csv")
    output = capsys.readouterr().out
    assert "7 ids occur more than once with different labels, such as r0; their texts are the same" in output
    assert "repeated: join makes one record of each" in output
    assert "after corrections, repeated: last keeps the last record" in output
    assert dataset.n_documents + dataset.test.X.n_rows == 48
    dataset = prepare(tmp_path, "--repeated=last", "--split=last", "--test-fraction=0.1", train="*.csv")
    output = capsys.readouterr().out
    assert "8 records whose id occurs again later: left out" in output
    assert "with different labels" not in output
    train, test = ids(dataset)
    assert len(train) + len(test) == 40
    assert test == {"2024.csv, r4", "2024.csv, r5", "2024.csv, r6", "2024.csv, r8"}
    labels = dataset.documents.train.Y.to_scipy().toarray() @ np.arange(3)
    names = dict(zip(dataset.records("train", range(len(train))), labels, strict=True))
    assert [names[f"2024.csv, r{i}"] for i in range(4)] == [2] * 4
    assert [names[f"2023.csv, r{i}"] for i in (9, 10)] == [1, 0]
