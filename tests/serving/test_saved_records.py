"""Saved corrections are found by the last line of each record, also after changes of the file."""

import json
from collections.abc import Iterator
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
# lines are added, one is cut out, the last one has no end, or the file begins again
CHANGES = st.one_of(
    st.tuples(st.just("add"), st.lists(LINES, min_size=1, max_size=3)),
    st.tuples(st.just("cut"), st.integers(0, 5)),
    st.tuples(st.just("half"), LINES),
    st.tuples(st.just("anew"), st.lists(LINES, max_size=3)),
)


def read_all(content) -> Iterator[dict]:
    """Yield the lines that are records, by reading the complete file."""
    for line in content.split("\n")[:-1]:
        try:
            entry = json.loads(line)
            if isinstance(entry["id"], str) and isinstance(entry["text"], str):
                yield entry
        except (ValueError, TypeError, KeyError):
            pass


def describe(entry) -> tuple[str, str]:
    """Return id and text of an entry; TypeError unless they are texts."""
    return entry["id"] + "", entry["text"] + ""


def change_content(content, change, value) -> str:
    if change == "add":
        return content + "".join(f"{line}\n" for line in value)
    if change == "cut":
        lines = content.splitlines(keepends=True)
        return "".join(lines[:value] + lines[value + 1 :])
    if change == "half":
        return content + value
    return "".join(f"{line}\n" for line in value)


@given(changes=st.lists(CHANGES, max_size=6))
def test_what_is_found_is_in_the_file(tmp_path_factory, changes) -> None:
    path = tmp_path_factory.mktemp("saved") / "corrections.jsonl"
    content = ""
    records = SavedRecords(path, describe)
    assert records.find("a", "one") is None
    for change in changes:
        content = change_content(content, *change)
        path.write_text(content, encoding="utf-8")
        theirs = list(read_all(content))
        for id_ in ("a", "b", "größe", "nobody"):
            same = [entry for entry in theirs if entry["id"] == id_]
            ours = records.find(id_)
            if same:
                assert (ours.entry, ours.times) == (same[-1], len(same))
            else:
                assert ours is None
        ids = list(dict.fromkeys(entry["id"] for entry in reversed(theirs)))
        total, newest = records.since("", 2)
        assert (total, [record.entry["id"] for record in newest]) == (len(ids), ids[:2])
        for text in ("one", "two"):
            found = records.find(None, text)
            with_text = [entry for entry in theirs if entry["text"] == text]
            last_of_record = None
            if with_text:
                last_id = with_text[-1]["id"]
                last_of_record = [entry for entry in theirs if entry["id"] == last_id][-1]
            if last_of_record is not None and last_of_record["text"] == text:
                assert found.entry["id"] == last_of_record["id"]
            else:
                assert found is None


@pytest.fixture
def corrected(service, saved):
    """Three records of which the first one is saved again, with another text."""
    for correction in (
        {"id": "one", "text": "first", "labels": [1]},
        {"id": "two", "text": "second", "labels": []},
        {"id": "one", "text": "third", "labels": [2, 3]},
    ):
        service.answer("/corrections", correction)
    return service


def find(service, **request) -> tuple | None:
    """Find a record; return its id, text, labels and how often it was saved."""
    found = service.answer("/corrections/find", request)["correction"]
    if found is None:
        return None
    labels = [label["id"] for label in found["labels"]]
    return found["id"], found["text"], labels, found["times"]


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
    # a time of another time zone
    earlier = (datetime.now(UTC) - timedelta(hours=1)).astimezone().isoformat().replace("+", "%2B")
    assert corrected.answer(f"/corrections?since={earlier}")["total"] == 2
    assert "since" in corrected.answer("/corrections?since=today", status=422)["detail"]


def test_labels_that_the_model_no_longer_has_are_unknown(corrected, saved, predictor) -> None:
    name = predictor.label_names[2]
    line = {
        "id": "old",
        "text": "old",
        "labels": ["gone", name],
        "time": "2020-01-01T00:00:00+00:00",
    }
    saved.write_text(json.dumps(line) + "\n", encoding="utf-8")
    found = corrected.answer("/corrections/find", {"id": "old"})["correction"]
    assert found["unknown"] == ["gone"]
    assert [label["name"] for label in found["labels"]] == [name]
