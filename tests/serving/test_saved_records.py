"""Corrections that come back: the last line of each record, whatever happens to the file meanwhile."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.serving.saved_records import SavedRecords

IDS = st.sampled_from(["a", "b", "größe"])
TEXTS = st.sampled_from(["one", "two", "größe \U00010400"])
LINES = st.one_of(
    st.fixed_dictionaries({"id": IDS, "text": TEXTS, "n": st.integers(0, 9)}).map(json.dumps),
    st.sampled_from(["", "no JSON", "[1]", '{"id": "a"}', '{"id": 3, "text": null}']),
)
# lines are added, one is cut out, the last one has no end, or all begins anew
CHANGES = st.one_of(
    st.tuples(st.just("add"), st.lists(LINES, min_size=1, max_size=3)),
    st.tuples(st.just("cut"), st.integers(0, 5)),
    st.tuples(st.just("half"), LINES),
    st.tuples(st.just("anew"), st.lists(LINES, max_size=3)),
)


def read_all(content):
    """Lines that are records, by a reader of the whole file."""
    for line in content.split("\n")[:-1]:
        try:
            entry = json.loads(line)
            if isinstance(entry["id"], str) and isinstance(entry["text"], str):
                yield entry
        except (ValueError, TypeError, KeyError):
            pass


def described(entry):
    return entry["id"] + "", entry["text"] + ""


def changed(content, change, value):
    if change == "add":
        return content + "".join(f"{line}\n" for line in value)
    if change == "cut":
        lines = content.splitlines(keepends=True)
        return "".join(lines[:value] + lines[value + 1 :])
    return content + value if change == "half" else "".join(f"{line}\n" for line in value)


@given(changes=st.lists(CHANGES, max_size=6))
def test_what_is_found_is_in_the_file(tmp_path_factory, changes) -> None:
    path = tmp_path_factory.mktemp("saved") / "corrections.jsonl"
    content = ""
    records = SavedRecords(path, described)
    assert records.find("a", "one") is None
    for change in changes:
        content = changed(content, *change)
        path.write_text(content, encoding="utf-8")
        theirs = list(read_all(content))
        for id_ in ("a", "b", "größe", "nobody"):
            same = [entry for entry in theirs if entry["id"] == id_]
            ours = records.find(id_)
            assert (
                (ours and (ours.entry, ours.times)) == (same[-1], len(same))
                if same
                else ours is None
            )
        ids = list(dict.fromkeys(entry["id"] for entry in reversed(theirs)))
        total, newest = records.since("", 2)
        assert (total, [record.entry["id"] for record in newest]) == (len(ids), ids[:2])
        for text in ("one", "two"):
            found = records.find(None, text)
            last = next((entry["id"] for entry in reversed(theirs) if entry["text"] == text), None)
            now = next((entry["text"] for entry in reversed(theirs) if entry["id"] == last), None)
            assert (found and found.entry["id"]) == (last if now == text else None)


@pytest.fixture
def corrected(service, saved):
    """Three records of which the first one is saved again, with another text."""
    for id_, text, labels in (
        ("one", "first", [1]),
        ("two", "second", []),
        ("one", "third", [2, 3]),
    ):
        service.answer("/corrections", {"id": id_, "text": text, "labels": labels})
    return service


def find(service, **asked):
    found = service.answer("/corrections/find", asked)["correction"]
    return found and (
        found["id"],
        found["text"],
        [label["id"] for label in found["labels"]],
        found["times"],
    )


def test_a_record_is_found_by_its_id_and_else_by_its_text(corrected) -> None:
    assert find(corrected, id="one") == ("one", "third", [2, 3], 2)
    assert find(corrected, text="second") == ("two", "second", [], 1)
    assert find(corrected, id="another", text="second") == ("two", "second", [], 1)
    assert find(corrected, id="two", text="third") == ("two", "second", [], 1)
    assert find(corrected, id="nobody") is None
    assert find(corrected, text="first") is None, "the record has another text now"
    reply = corrected.answer("/corrections", {"text": "fourth", "labels": [1]})
    assert reply["replaces"] is None
    again = corrected.answer("/corrections", {"text": "fourth", "labels": []})
    assert (again["id"], again["replaces"]) == (reply["id"], reply["time"])


def test_records_of_a_time_are_listed_the_last_one_first(corrected) -> None:
    page = corrected.answer("/corrections")
    assert [record["id"] for record in page["corrections"]] == ["one", "two"]
    page = corrected.answer("/corrections?limit=1")
    assert (page["total"], len(page["corrections"])) == (2, 1)
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat().replace("+00:00", "%2B00:00")
    assert corrected.answer(f"/corrections?since={later}")["total"] == 0
    # a time elsewhere is the same time
    earlier = (datetime.now(UTC) - timedelta(hours=1)).astimezone().isoformat().replace("+", "%2B")
    assert corrected.answer(f"/corrections?since={earlier}")["total"] == 2
    assert "since" in corrected.answer("/corrections?since=today", status=422)["detail"]


def test_labels_that_the_model_no_longer_has_are_told(corrected, saved, predictor) -> None:
    name = predictor.label_names[2]
    line = {
        "id": "old",
        "text": "old",
        "labels": ["gone", name],
        "time": "2020-01-01T00:00:00+00:00",
    }
    saved.write_text(json.dumps(line) + "\n", encoding="utf-8")
    found = corrected.answer("/corrections/find", {"id": "old"})["correction"]
    assert (found["unknown"], [label["name"] for label in found["labels"]]) == (["gone"], [name])
