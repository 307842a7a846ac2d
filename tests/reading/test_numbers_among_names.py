"""Numbers next to names of labels, as in spans and pairs: refused, selected by place, or counted."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.reading.instances import Reading

NAMES = ["Chess", "Music", "Pottery", "Railways"]
LISTS = [[NAMES[n % 4], NAMES[(n + 1 + n // 4) % 4]][: 1 + n % 2] for n in range(48)]
FOUND = (sorted(NAMES), 48, sum(len(set(labels)) for labels in LISTS))


def make_lines(write) -> str:
    """Make JSON Lines whose labels a function writes."""
    lines = ""
    for number, labels in enumerate(LISTS):
        record = {"text": f"river{number % 7} stone{number % 5}", "labels": write(labels)}
        lines += json.dumps(record) + "\n"
    return lines


def make_table(write) -> str:
    """Make CSV whose labels, texts or JSON, a function writes."""
    rows = "text,labels\n"
    for number, labels in enumerate(LISTS):
        written = write(labels)
        if not isinstance(written, str):
            written = json.dumps(written)
        cell = written.replace('"', '""')
        rows += f'river{number % 7} stone{number % 5},"{cell}"\n'
    return rows


MAKERS = {"a.jsonl": make_lines, "a.csv": make_table}
SPANS = "labels are spans of a text, or other lists of numbers and a name, such as "
PAIRS = "labels are pairs of a number and a name, such as "
REFUSED = {
    "spans": (lambda name: [0, len(name), name], SPANS + "[0, 5, 'Chess']", "2"),
    "names first": (lambda name: [name, 3, 9], SPANS + "['Chess', 3, 9]", "0"),
    "seconds": (lambda name: [0.5, 2.25, name], SPANS + "[0.5, 2.25, 'Chess']", "2"),
    "ids of spaCy": (lambda name: [0, 9, name, ""], SPANS + "[0, 9, 'Chess', '']", "2"),
    "pairs": (lambda name: [28, name], PAIRS + "[28, 'Chess']", "1"),
    "scores": (lambda name: [0.9, name], PAIRS + "[0.9, 'Chess']", "1"),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("form", REFUSED)
def test_lists_of_numbers_and_names(advised, form, name) -> None:
    write_name, said, place = REFUSED[form]
    content = MAKERS[name](lambda labels: [write_name(label) for label in labels])
    advice = f'{said}; set label_key: "{place}", the place of the name'
    read = advised(content, [], advice, f"--label-key={place}", name=name)
    assert read.found == FOUND
    assert f"lists, whose place {place} has the name" in read.said


def test_numbers_that_are_labels_themselves(advised) -> None:
    content = make_lines(lambda labels: [[28, label] for label in labels])
    advice = "or labels_are: names if the numbers are labels, too"
    read = advised(content, [], advice, "--labels-are=names", name="a.jsonl")
    assert read.found == (["28", *FOUND[0]], 48, FOUND[2] + 48)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(
    ("write_name", "place"),
    [(lambda label: [0, 5, label], "2"), (lambda label: [label, 0, 5], "0")],
)
def test_spans_that_are_not_lists_of_their_own(advised, name, write_name, place) -> None:
    content = MAKERS[name](lambda labels: [part for label in labels for part in write_name(label)])
    read = advised(content, [], f'set label_key: "{place}"', f"--label-key={place}", name=name)
    assert read.found == FOUND


@pytest.mark.parametrize("texts", ["text", "value"])
def test_spans_that_are_objects(prepare, texts) -> None:
    """Doccano has a label for each span, Label Studio a list."""

    def write_doccano(labels) -> list[dict]:
        return [{"start_offset": 0, "end_offset": 5, texts: "a", "label": each} for each in labels]

    def write_label_studio(labels) -> list[dict]:
        return [{"start": 0, "end": 5, texts: "a", "labels": [label]} for label in labels]

    for write in (write_doccano, write_label_studio):
        for name, make in MAKERS.items():
            read = prepare(make(write), [], name)
            assert read.found == FOUND, read.said


MANY = "exclude: numbers.txt leaves them out, a file with one of them on each line"


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(
    ("write", "numbers"),
    [
        (lambda labels: [*labels, 5], ["5"]),
        (lambda labels: [*labels, "5"], ["5"]),
        (lambda labels: ", ".join([*labels, "5"]), ["5"]),
        (lambda labels: ", ".join([*labels, "0.5"]), ["0.5"]),
        (lambda labels: f"[{', '.join([*labels, '5'])}]", ["5"]),
        (
            lambda labels: [part for label in labels for part in (label, len(label))],
            ["5", "7", "8"],
        ),
    ],
)
def test_numbers_among_names_are_counted(prepare, name, write, numbers) -> None:
    listed = ", ".join(f'"{number}"' for number in numbers)
    content = MAKERS[name](write)
    assert f"exclude: [{listed}] leaves them out" in prepare(content, [], name).said
    read = prepare(content, [f"--exclude={number}" for number in numbers], name)
    assert read.found == FOUND
    assert "numbers among" not in read.said


def test_many_numbers_among_names(prepare) -> None:
    count = iter(range(100, 10_000))
    content = make_lines(lambda labels: [*labels, next(count)])
    assert MANY in prepare(content, [], "a.jsonl").said
    Path("numbers.txt").write_text("".join(f"{number}\n" for number in range(100, 148)))
    read = prepare(content, ["--exclude=numbers.txt"], "a.jsonl")
    assert read.found == FOUND


@pytest.mark.parametrize(
    "write",
    [
        lambda labels: [NAMES.index(label) for label in labels],
        lambda labels: [str(NAMES.index(label)) for label in labels],
        lambda labels: ",".join(str(NAMES.index(label)) for label in labels),
        lambda labels: [[NAMES.index(label)] for label in labels],
        lambda labels: [[label, 1] for label in labels],
        lambda labels: [f"{label} 5" for label in labels],
    ],
)
def test_ids_and_names_stay_as_they_are(prepare, write) -> None:
    for name, make in MAKERS.items():
        read = prepare(make(write), [], name)
        assert read.found[1:] == FOUND[1:]
        assert "numbers among" not in read.said


def test_codes_among_which_some_look_like_counts(prepare) -> None:
    codes = {"Chess": "8", "Music": "010"}
    content = make_lines(lambda labels: [codes.get(label, label) for label in labels])
    read = prepare(content, [], "a.jsonl")
    assert read.found == (["010", "8", "Pottery", "Railways"], *FOUND[1:])
    assert "numbers among" not in read.said


NUMBER = st.integers(-9, 10**6) | st.floats(allow_nan=False, allow_infinity=False)
SPAN = st.tuples(st.lists(NUMBER, max_size=3), st.sampled_from(NAMES), st.lists(NUMBER, max_size=3))
NUMBERED = SPAN.filter(lambda span: span[0] or len(span[2]) > 1)


@given(NUMBERED, st.sampled_from([lambda labels: labels, json.dumps, repr]))
def test_names_are_at_their_place(span, write) -> None:
    before, name, after = span
    cell = write([[*before, name, *after]])
    with pytest.raises(ValueError, match="number"):
        Reading(["text"], ["labels"]).parse_judged_labels([cell])
    reading = Reading(["text"], ["labels"], label_key=str(len(before)))
    assert reading.parse_judged_labels([cell])[0] == (name,)
