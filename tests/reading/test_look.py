"""Files as people have them, through ``ovaflow prepare``: read right, refused or remarked on; advice is followed."""

import csv
import io
import json
import random
import re
import unicodedata

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset

TOPICS = ["Science Fiction", "Drama", "Action", "Comedy", "Film noir", "Western"]
WORDS = [
    "river",
    "stone",
    "lamp",
    "paper",
    "engine",
    "harbour",
    "violin",
    "cloud",
    "garden",
    "winter",
    "letter",
    "market",
]
DRAW = random.Random(5)
RECORDS = [
    (" ".join(DRAW.choices(WORDS, k=9)) + f" w{n}", DRAW.sample(TOPICS, DRAW.choice([1, 2, 2, 3]))) for n in range(120)
]
PER_RECORD = round(sum(len(labels) for _, labels in RECORDS) / len(RECORDS), 2)


def table(rows, header=("text", "labels"), **dialect):
    buffer = io.StringIO()
    csv.writer(buffer, **{"lineterminator": "\n"} | dialect).writerows([header, *rows])
    return buffer.getvalue()


def of(write, records=RECORDS, **dialect):
    """A table whose labels are written somehow."""
    return table([(text, write(labels)) for text, labels in records], **dialect)


def joined(mark):
    return lambda labels: mark.join(labels)


def lines(records):
    return "".join(json.dumps(each) + "\n" for each in records)


def parquet(**columns):
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()


class Outcome:
    """What ``ovaflow prepare`` made of a file."""

    def __init__(self, folder, content, *options, name="data.csv", capsys=None):
        path, output = folder / name, folder / "dataset.h5"
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        ending = name.rpartition(".")[2]
        format = {"tsv": "text-tsv", "csv": "csv", "jsonl": "jsonl", "parquet": "parquet"}[ending]
        given = [f"--train={path}"] if not any(each.startswith("--train") for each in options) else []
        if not any(each.startswith("--format") for each in options):
            given.append(f"--format={format}")
        output.unlink(missing_ok=True)
        self.status = main(["prepare", f"--output={output}", *given, *options, "--min-df=1", "--features=words"])
        self.said = "".join(capsys.readouterr())
        self.labels, self.n, self.per_record = None, 0, 0
        if self.status == 0:
            dataset = open_dataset(output)
            n_train = dataset.train.X.n_rows - dataset.parameters.get("named_labels", 0)
            self.n = n_train + dataset.test.X.n_rows
            positives = dataset.train.Y.indptr[n_train] + len(dataset.test.Y.indices)
            self.labels, self.per_record = dataset.label_names, round(positives / self.n, 2)


@pytest.fixture
def outcome(tmp_path, capsys):
    def prepared(content, *options, **more):
        return Outcome(tmp_path, content, *options, capsys=capsys, **more)

    return prepared


def test_six_labels_whatever_way_they_are_written(outcome):
    """The same records by each way that people have."""
    flags = [[int(topic in labels) for topic in TOPICS] for _, labels in RECORDS]
    texts, lists = [text for text, _ in RECORDS], [labels for _, labels in RECORDS]
    columns, of_columns = ("text", *TOPICS), f"--labels-column={','.join(TOPICS)}"
    objects = [[{"id": TOPICS.index(label), "name": label} for label in labels] for labels in lists]
    files = [
        (of(json.dumps),),
        (of(repr),),
        (of(lambda labels: str(set(labels))),),
        (of(lambda labels: f"<{'><'.join(labels)}>"),),
        (of(lambda labels: "{" + ",".join(f'"{label}"' for label in labels) + "}"),),
        (of(lambda labels: str(np.array(labels, object))),),
        (of(lambda labels: repr([{"id": 1, "name": label} for label in labels])),),
        (of(lambda labels: json.dumps(dict(enumerate(labels)))),),
        (of(joined(" ; ")), "--label-separator=;"),
        (of(joined("||")), "--label-separator=||"),
        (of(joined("\n")), r"--label-separator=\n"),
        ("sep=;\r\n" + of(joined("|"), delimiter=";"), "--label-separator=|"),
        (of(joined("|"), delimiter="\t"), "--label-separator=|"),
        *((of(joined("|")).encode(encoding), "--label-separator=|") for encoding in ("utf-8-sig", "utf-16", "utf-32")),
        (of(joined("|")).encode("utf-16-le"), "--label-separator=|", "--encoding=utf-16-le"),
        # the mark of UTF-8 says more than a setting for many files
        (of(joined("|")).encode("utf-8-sig"), "--label-separator=|", "--encoding=windows-1252"),
        *(
            (table([(text, *map(write, row)) for text, row in zip(texts, flags, strict=True)], columns), of_columns)
            for write in (str, float, bool, "x".__mul__)
        ),
        (
            table(
                [
                    (text, *(label if flag else "" for label, flag in zip(TOPICS, row, strict=True)))
                    for text, row in zip(texts, flags, strict=False)
                ],
                columns,
            ),
            of_columns,
        ),
    ]
    more = {
        "a.jsonl": [
            lines({"text": text, "labels": each} for text, each in zip(texts, kind, strict=True))
            for kind in (lists, objects)
        ]
        + [
            lines(
                {"text": text, "labels": dict(zip(TOPICS, map(bool, row), strict=True))}
                for text, row in zip(texts, flags, strict=False)
            )
        ],
        "a.parquet": [parquet(text=texts, labels=kind) for kind in (lists, objects, list(map(json.dumps, lists)))],
        "a.tsv": ["labels\ttext\n" + "".join(f"{','.join(labels)}\t{text}\n" for text, labels in RECORDS)],
    }
    for content, *options in [*files, *((content, name) for name, contents in more.items() for content in contents)]:
        name = options.pop() if options and not options[-1].startswith("--") else "data.csv"
        read = outcome(content, *options, name=name)
        assert (read.labels, read.n, read.per_record) == (sorted(TOPICS), len(RECORDS), PER_RECORD), (
            content[:200],
            read.said,
        )


@pytest.mark.parametrize(
    "write", [str, lambda row: str(np.array(row)), json.dumps, lambda row: ",".join(map(str, row))]
)
def test_multi_hot_lists(outcome, tmp_path, write):
    (tmp_path / "names.txt").write_text("\n".join(TOPICS))
    for n in (2, 6):
        (tmp_path / "names.txt").write_text("\n".join(TOPICS[:n]))
        rows = [(text, [int(topic in labels) for topic in TOPICS[:n]]) for text, labels in RECORDS]
        content, mean = (
            table([(text, write(row)) for text, row in rows]),
            round(np.mean([sum(row) for _, row in rows]), 2),
        )
        read = outcome(content)
        assert (read.labels, read.per_record) == (list(map(str, range(n))), mean)
        assert "truth values, by their places" in read.said
        read = outcome(content, f"--labels={tmp_path / 'names.txt'}")
        assert (read.labels, read.per_record) == (TOPICS[:n], mean)


@pytest.mark.parametrize(
    ("yes", "no", "said"),
    [("oui", "non", "oui"), (-1, 0, "-1"), (1, -1, "-1"), (0.7, 0.0, "0.7"), (3, 0, "3"), (2, "", "2")],
)
def test_columns_of_something_else_than_yes_and_no_are_refused(outcome, yes, no, said):
    rows = [
        (text, *(yes if topic in labels else no for topic in TOPICS)) for text, labels in RECORDS if len(labels) > 1
    ]
    columns = f"--labels-column={','.join(TOPICS)}"
    read = outcome(table(rows, ("text", *TOPICS)), columns)
    assert read.status == 2
    assert said in read.said
    assert "neither yes nor no; write 1 where" in read.said
    # the advice
    rows = [(text, *map(int, (cell == yes for cell in cells))) for text, *cells in rows]
    assert outcome(table(rows, ("text", *TOPICS)), columns).labels == sorted(TOPICS)


def test_columns_of_ids_are_ids(outcome):
    rows = [(text, *map(TOPICS.index, labels), *[""] * (3 - len(labels))) for text, labels in RECORDS]
    read = outcome(table(rows, ("text", "a", "b", "c")), "--labels-column=a,b,c")
    assert (read.labels, read.per_record) == (list("012345"), PER_RECORD)


@pytest.mark.parametrize("mark", [" ", "\n", "/", "&", " & ", "#", ":", ";", ",", "|", "||"])
def test_separators_that_are_advised(outcome, mark):
    records = [(text, [label.replace(" ", "-") for label in labels]) for text, labels in RECORDS]
    content = of(joined(mark), records)
    read = outcome(content, f"--label-separator={';' if mark == ',' else ','}")
    advice = re.search(r'set label_separator: "(.*?)"', read.said)
    assert read.status == 2
    assert f'label_separator: "{advice[1]}" gives 6 labels' in read.said
    read = outcome(content, f"--label-separator={advice[1]}")
    assert (len(read.labels), read.per_record) == (6, PER_RECORD)
    read = outcome(content, "--label-separator=none")
    assert read.status == 0
    assert max(read.labels, key=len).count(mark.strip() or " ") >= 1


def test_sentences_are_no_lists(outcome):
    names = [f"Fees of {word}, {DRAW.choice(WORDS)} and the like" for word in WORDS * 3]
    content = table([(text, names[row % 36]) for row, (text, _) in enumerate(RECORDS)])
    read = outcome(content)
    assert "remark: labels seem to be sentences that commas cut" in read.said
    assert "label_separator: none" in read.said
    read = outcome(content, "--label-separator=none")
    assert read.per_record == 1
    assert set(read.labels) <= set(names)
    assert "remark: labels" not in read.said


def test_what_begins_like_a_list_may_be_a_name(outcome):
    content = table([(text, f'["{labels[0]}" and more] {labels[0]}') for text, labels in RECORDS])
    read = outcome(content)
    assert read.status == 2
    assert "set label_separator: none if it is a name" in read.said
    assert len(outcome(content, "--label-separator=none").labels) == 6


@pytest.mark.parametrize(
    ("labels", "said", "option"),
    [
        (
            lambda labels: [{"name": label, "title": label} for label in labels],
            "set label_key to one of 'name', 'title'",
            "--label-key=title",
        ),
        (
            lambda labels: [{"id": TOPICS.index(label)} for label in labels],
            "set label_key to the key of the name",
            "--label-key=id",
        ),
    ],
)
def test_keys_that_are_asked_for(outcome, labels, said, option):
    content = lines({"text": text, "labels": labels(each)} for text, each in RECORDS)
    read = outcome(content, name="a.jsonl")
    assert read.status == 2
    assert said in read.said
    assert len(outcome(content, option, name="a.jsonl").labels) == 6


def test_one_row_per_label(outcome):
    rows = sorted(
        ((f"r{n}", text, label) for n, (text, labels) in enumerate(RECORDS) for label in labels), key=lambda row: row[2]
    )
    for content in (table(rows, ("id", "text", "labels")), table([row[1:] for row in rows])):
        read = outcome(content)
        assert (read.n, read.per_record) == (len(rows), 1)
        assert "repeated: join makes one record of each" in read.said
        read = outcome(content, "--repeated=join")
        assert (read.n, read.per_record) == (len(RECORDS), PER_RECORD)
        assert f"{len(rows) - len(RECORDS):,} records are joined" in read.said
        assert "repeated: " not in read.said
    rows = [
        (f"r{n}", text + " again" * again, labels[0] * (again + 1))
        for n, (text, labels) in enumerate(RECORDS)
        for again in (0, 1)
    ]
    read = outcome(table(rows, ("id", "text", "labels")))
    assert "repeated: last keeps the last record" in read.said
    assert "join" not in read.said
    read = outcome(table(rows, ("id", "text", "labels")), "--repeated=last")
    assert (read.n, read.labels) == (len(RECORDS), sorted(2 * label for label in TOPICS))


FIELDS = {"text": lambda n: RECORDS[n][0], "labels": lambda n: ",".join(RECORDS[n][1]), "id": lambda n: f"r{n}"}


@pytest.mark.parametrize("order", ["text labels", "text labels id", "id labels text", "id text labels"])
def test_lines_in_another_order(outcome, order):
    content = "".join("\t".join(FIELDS[name](n) for name in order.split()) + "\n" for n in range(len(RECORDS)))
    read = outcome(content, name="a.tsv")
    assert read.status == 2
    assert "expected labels, a tab and the text" in read.said
    assert "header line" in read.said
    # each advice
    with_header = outcome("\t".join(order.split()) + "\n" + content, "--format=csv")
    assert (with_header.labels, with_header.n, with_header.per_record) == (sorted(TOPICS), len(RECORDS), PER_RECORD)
    if "cut -f 2-" in read.said and order == "id labels text":
        read = outcome("".join(line.partition("\t")[2] for line in content.splitlines(True)), name="a.tsv")
        assert (read.labels, read.per_record) == (sorted(TOPICS), PER_RECORD)


def test_one_of_several_files_in_another_order(outcome, tmp_path):
    first, second = (RECORDS[:60], RECORDS[60:])
    (tmp_path / "1.tsv").write_text("".join(f"{','.join(labels)}\t{text}\n" for text, labels in first))
    (tmp_path / "2.tsv").write_text("".join(f"{text}\t{','.join(labels)}\n" for text, labels in second))
    read = outcome(None, f"--train={tmp_path}/*.tsv", "--format=text-tsv")
    assert read.status == 2
    assert "2.tsv, line 1: expected labels, a tab" in read.said


def test_header_of_text_tsv(outcome):
    content = "text\tlabels\n" + "".join(f"{text}\t{','.join(labels)}\n" for text, labels in RECORDS)
    read = outcome(content, name="a.tsv")
    assert read.status == 2
    assert "read it with format: csv" in read.said
    assert outcome(content, "--format=csv").per_record == PER_RECORD


def test_ids_and_their_names(outcome, tmp_path):
    (tmp_path / "names.txt").write_text("\n".join(TOPICS))
    names = f"--labels={tmp_path / 'names.txt'}"

    def ids(first, mark=",", without=()):
        return of(
            lambda labels: mark.join(str(TOPICS.index(label) + first) for label in labels if label not in without)
        )

    read = outcome(ids(1), names)
    assert read.status == 2
    assert "label '6' is not an id from 0 to 5; if ids are counted from 1, set first_label: 1" in read.said
    read = outcome(ids(1, without=TOPICS[-1:]), names)
    assert (
        "no training instance has the id 0, 'Science Fiction': if ids are counted from 1, set first_label: 1"
        in read.said
    )
    read = outcome(ids(1), names, "--first-label=1")
    assert (read.labels, read.per_record) == (TOPICS, PER_RECORD)
    assert "first_label" not in read.said
    read = outcome(ids(0), names, "--first-label=1")
    assert read.status == 2
    assert "set first_label: 0" in read.said
    assert outcome(ids(0), names, "--first-label=0").per_record == PER_RECORD
    read = outcome(ids(0, " "), names)
    assert read.status == 2
    assert 'if it is several ids, set label_separator: " "' in read.said
    assert outcome(ids(0, " "), names, "--label-separator= ").per_record == PER_RECORD
    read = outcome(of(joined(",")), names)
    assert read.status == 2
    assert "leave out the file of label names" in read.said


@pytest.mark.parametrize("header", [("Title, remainder", "Sub\nject"), ("a,b", "c"), ('a "b"', "c, d, e")])
def test_names_of_columns(outcome, header):
    content = table([(text, ";".join(labels)) for text, labels in RECORDS], header)
    ways = [
        lambda name: name,
        lambda name: name.upper(),
        lambda name: name.replace("\n", " "),
        lambda name: name.replace("\n", "\\n"),
    ]
    ways += [lambda name: '"' + name.replace('"', '""') + '"', lambda name: name.replace(", ", ",")]
    for way in ways:
        read = outcome(
            content, "--label-separator=;", *map("--{}-column={}".format, ("text", "labels"), map(way, header))
        )
        assert (read.labels, read.per_record) == (sorted(TOPICS), PER_RECORD), read.said


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_header(outcome, delimiter):
    # commas make fewer columns than another separator would
    rows = [(text, "|".join(labels)) for text, labels in sorted(RECORDS, key=lambda record: -len(record[1]))]
    for long in (0, 6):
        content = table([(text + " and more" * long, labels) for text, labels in rows], delimiter=delimiter).partition(
            "\n"
        )[2]
        read = outcome(content, "--label-separator=|")
        above = re.search("echo '(.*?)';", read.said)[1]
        assert read.status == 2
        assert above == f"text{delimiter}labels".replace("\t", " ")
        assert outcome(f"text{delimiter}labels\n{content}", "--label-separator=|").per_record == PER_RECORD


def with_quotes(delimiter, separator, first, last):
    """A table in which quotes mean nothing: one begins a text, one ends a later text."""
    rows = [
        f"{n}{delimiter}{chr(34) * (n == first)}{text}{chr(34) * (n == last)}{delimiter}{separator.join(labels)}\n"
        for n, (text, labels) in enumerate(RECORDS)
    ]
    return f"id{delimiter}text{delimiter}labels\n{''.join(rows)}"


@pytest.mark.parametrize(("delimiter", "separator"), [(",", ";"), (";", ","), ("\t", ";"), ("|", ";")])
@pytest.mark.parametrize(("first", "last"), [(3, 4), (3, 5), (3, 9), (3, 90), (3, None)])
def test_quotes_that_swallow_records(outcome, delimiter, separator, first, last):
    content, separator = with_quotes(delimiter, separator, first, last), f"--label-separator={separator}"
    read = outcome(content, separator)
    assert "quotes: none" in read.said
    assert read.status == 0 or "line 5: " in read.said
    read = outcome(content, separator, "--quotes=none")
    assert (read.n, read.per_record) == (len(RECORDS), PER_RECORD)
    assert "quotes:" not in read.said


def test_quotes_that_mean_something(outcome):
    texts = [text.replace(" ", ",\n" if n % 3 else "\n") for n, (text, _) in enumerate(RECORDS)]
    content = table([(text, ";".join(labels)) for text, (_, labels) in zip(texts, RECORDS, strict=True)])
    read = outcome(content, "--label-separator=;")
    assert read.status == 2
    assert "quotes: double if this is one text" in read.said
    read = outcome(content, "--label-separator=;", "--quotes=double")
    assert (read.n, read.per_record) == (len(RECORDS), PER_RECORD)
    assert "quotes:" not in read.said
    content = table(
        [(text.replace(" ", '" ', 1), ";".join(labels)) for text, labels in RECORDS],
        quoting=csv.QUOTE_ALL,
        doublequote=False,
        escapechar="\\",
    )
    read = outcome(content, "--label-separator=;")
    assert read.status == 2
    assert 'quotes: backslash if \\" is a quote' in read.said
    assert "none" not in read.said
    assert outcome(content, "--label-separator=;", "--quotes=backslash").per_record == PER_RECORD


@pytest.mark.parametrize(
    ("word", "encoding", "said"),
    [
        ("Comédie", "windows-1252", "set encoding: windows-1252"),
        ("Œuvres – théâtre €", "windows-1252", "set encoding: windows-1252"),
        ("戏剧", "gb18030", "such as windows-1251, gb18030"),
        ("Драма", "windows-1251", "such as windows-1251"),
        ("Comédie", "utf-16-be", "set encoding: utf-16-be"),
    ],
)
def test_encodings(outcome, word, encoding, said):
    content = of(joined("|")).replace("Drama", word).encode(encoding)
    read = outcome(content, "--label-separator=|")
    assert read.status == 2
    assert said in read.said
    read = outcome(content, "--label-separator=|", f"--encoding={encoding}")
    assert word in read.labels
    assert read.per_record == PER_RECORD


def test_names_that_look_alike(outcome, tmp_path):
    names = [label.replace("Comedy", "Comédie") for label in TOPICS]
    odd = [
        (
            text,
            [
                unicodedata.normalize(("NFC", "NFD")[n % 2], names[TOPICS.index(label)])
                + "\u200b" * (n % 3)
                + " " * (n % 2)
                for label in labels
            ],
        )
        for n, (text, labels) in enumerate(RECORDS)
    ]
    assert outcome(of(joined(","), odd)).labels == sorted(names)
    odd = [
        (text, [label.lower() if n % 2 else label + "." for label in labels])
        for n, (text, labels) in enumerate(RECORDS)
    ]
    read = outcome(of(joined(","), odd))
    assert "12 labels differ only in case or a final full stop" in read.said
    assert "label_map merges them" in read.said
    (tmp_path / "map.csv").write_text("".join(f"{label.lower()},{label}\n{label}.,{label}\n" for label in TOPICS))
    read = outcome(of(joined(","), odd), f"--label-map={tmp_path / 'map.csv'}")
    assert read.labels == sorted(TOPICS)
    assert "differ only" not in read.said


@pytest.mark.parametrize("word", ["nan", "NaN", "None", "NULL", "null", "N/A", "n/a", "#N/A", "-", "<NA>", "NaT"])
def test_words_for_nothing(outcome, word):
    rows = [
        (word if n % 4 == 1 else text, word if n % 4 == 0 else ";".join(labels))
        for n, (text, labels) in enumerate(RECORDS)
    ]
    read = outcome(table(rows), "--label-separator=;")
    assert read.labels == sorted(TOPICS)
    assert "30 labels are words for nothing" in read.said
    assert "30 cells of texts are words for nothing" in read.said
    for nothing in ("[]", "other"):
        read = outcome(table(rows), "--label-separator=;", f"--missing={nothing}")
        assert word in read.labels
        assert "for nothing" not in read.said


def test_whole_numbers_of_tables_with_gaps(outcome, tmp_path):
    frame = pd.DataFrame(
        {
            "text": [text for text, _ in RECORDS],
            "labels": [None if n % 5 == 0 else TOPICS.index(labels[0]) for n, (_, labels) in enumerate(RECORDS)],
        }
    )
    for content, name in (
        (frame.to_csv(), "a.csv"),
        (frame.to_csv(index=False, na_rep="nan"), "a.csv"),
        (frame.to_parquet(), "a.parquet"),
    ):
        read = outcome(content, name=name)
        assert (read.labels, read.per_record) == (list("012345"), 0.8)


def test_columns_that_a_part_of_the_files_lacks(outcome, tmp_path):
    (tmp_path / "1.csv").write_text(of(joined(","), RECORDS[:60]))
    for content, said in (
        (table([(text,) for text, _ in RECORDS[60:]], ("text",)), "2.csv, line 1: no column 'labels'"),
        (of(joined(","), RECORDS[60:]).partition("\n")[2], "2.csv, line 1: no column 'text', 'labels'"),
    ):
        (tmp_path / "2.csv").write_text(content)
        read = outcome(None, f"--train={tmp_path}/*.csv", "--format=csv")
        assert read.status == 2
        assert said in read.said
    (tmp_path / "2.csv").write_text(
        table([(",".join(labels), text) for text, labels in RECORDS[60:]], ("labels", "text"))
    )
    assert outcome(None, f"--train={tmp_path}/*.csv", "--format=csv").per_record == PER_RECORD
