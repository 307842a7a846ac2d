"""Suggestions of other programs as evidence, against dictionaries and stages without them."""

import csv
import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from commands import list_label_values, ovaflow, predict_answers
from hypothesis import given
from hypothesis import strategies as st
from records import read_records, write_records

from ovaflow.dataset.dataset import open_dataset
from ovaflow.model.ranked_labels import find_hits
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.suggestions import Suggestions, read_suggestions
from ovaflow.settings.predict import N_CANDIDATES

names = st.sampled_from("abcdefgh")
scores = st.none() | st.integers(-3, 3)
rows = st.lists(st.tuples(st.sampled_from(["1", "2", "text"]), st.just("") | names, scores))


@given(rows, st.lists(st.sampled_from(["1", "2", "text", "unknown"]), min_size=1), st.booleans())
def test_a_file_is_read_as_a_dictionary(tmp_path_factory, entries, asked, scored) -> None:
    path = tmp_path_factory.mktemp("file") / "a.csv"
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "label", "score"][: 2 + scored])
        for text, label, score in entries:
            table.writerow([text, label and f"<{label}>", score or 0][: 2 + scored])
    ours = read_suggestions(path, {name: place for place, name in enumerate("abcdef")})
    theirs = {text: [] for text, *_ in entries}
    for place, (text, label, score) in enumerate(entries):
        if label and label in "abcdef":
            theirs[text].append((-(score or 0) * scored, place, ord(label) - ord("a")))
    suggestions = ours.find_suggestions(asked)
    for i, text in enumerate(asked):
        expected = sorted(theirs.get(text, []))[:N_CANDIDATES]
        m = len(expected)
        assert suggestions.known[i] == (text in theirs)
        assert suggestions.ids[i].tolist() == [label for *_, label in expected] + [-1] * (
            N_CANDIDATES - m
        )
        assert suggestions.scores[i, :m].tolist() == [-score for score, *_ in expected]
    assert ours.unknown == sum(label in ("g", "h") for _, label, _ in entries)
    assert ours.amount == sum(label != "" for _, label, _ in entries)


@given(st.integers(0, 1000), st.integers(1, 12), st.integers(1, 12))
def test_each_candidate_has_a_score_and_a_place(seed, most, k) -> None:
    rng = np.random.default_rng(seed)
    ids, candidates = (rng.integers(-1, 15, (9, size)).astype(np.int32) for size in (most, k))
    scores = rng.normal(size=ids.shape).astype(np.float32)
    ours = Suggestions(ids, scores, np.ones(len(ids), bool)).look_up(candidates)
    equal = (ids[:, None] == candidates[:, :, None]) & (candidates[:, :, None] >= 0)
    found = equal.any(axis=2)
    places = equal.argmax(axis=2)
    assert (
        ours[:, :, 0] == np.where(found, np.take_along_axis(scores, places, axis=1), -100)
    ).all()
    assert (ours[:, :, 1] == np.where(found, places, N_CANDIDATES)).all()


@pytest.fixture(scope="module")
def rerank(model, fitted_to):
    """Fits a second stage for a copy of the model, in a folder of its own; returns the copy, and
    what is said.
    """

    def fit(output, *options, status=0):
        output.mkdir()
        copy = Path(shutil.copy(model, output))
        stage = f"--output={output}/reranker.h5"
        return copy, ovaflow("rerank", copy, fitted_to, stage, options, status=status)

    return fit


def write_suggestions(folder, path, part, share=1.0) -> Path:
    """Write suggestions of a program that knows most labels, for records of held-out and test
    instances.
    """
    generator = random.Random(3)
    records = read_records(folder / "records.csv")
    labels = {f"line {line}": row["labels"].split("|") for line, row in enumerate(records, 2)}
    rows = []
    for record in open_dataset(folder / f"{part}.h5").ids("test"):
        if generator.random() < share:
            others = [f"name{generator.randrange(60)}" for _ in range(3)]
            true = [each for each in labels[record] if generator.random() < 0.8]
            for label in sorted({*true, *others}):
                score = generator.random() + (label in labels[record])
                rows.append({"id": record, "label": label, "score": score})
    write_records(str(path), rows)
    return path


@pytest.fixture(scope="module")
def model_with_file(folder, rerank, tmp_path_factory) -> Path:
    """A model whose second stage weighs suggestions of a file."""
    place = tmp_path_factory.mktemp("of file")
    file = write_suggestions(folder, place / "guesses.csv", "held")
    return rerank(place / "made", f"--suggestions={file}")[0]


@pytest.fixture(scope="module")
def half_suggestions(folder, tmp_path_factory) -> Path:
    """Suggestions for about half of the test instances."""
    return write_suggestions(folder, tmp_path_factory.mktemp("half") / "new.csv", "dataset", 0.5)


def test_a_text_of_which_the_file_says_nothing_is_ranked_without(
    dataset, model_with_file, half_suggestions, predict, capsys
) -> None:
    ours = predict(f"--suggestions={half_suggestions}", by=model_with_file)
    without = predict()
    suggested = {row["id"] for row in read_records(half_suggestions)}
    ids = dataset.ids("test")
    known = np.array([record in suggested for record in ids])
    assert f"for {len(suggested)} of {len(ids)} test instances" in capsys.readouterr().out
    for part, array in zip(ours.ranking, without.ranking, strict=True):
        assert np.array_equal(part[~known, : array.shape[1]], array[~known])
    assert not np.array_equal(
        ours.ranking.probabilities[known], without.ranking.probabilities[known]
    )
    hits = find_hits(ours.ids[:, :1], dataset.test.Y)
    assert hits[known].mean() > hits[~known].mean()
    nothing = predict(by=model_with_file)
    assert np.array_equal(nothing.ranking.probabilities, without.ranking.probabilities)
    assert "guesses: the second stage can rank with their suggestions" in capsys.readouterr().err


def test_a_file_is_evidence(model_with_file) -> None:
    parameters = Reranker.open_header(model_with_file.with_name("reranker.h5")).parameters
    check = parameters["check"]
    assert check["second_stage"] > check["first_stage"]
    assert check["lost"]["suggestions of guesses"] > 0.05
    assert parameters["columns"][-2:] == ["score of guesses", "rank of guesses"]


def test_new_texts_are_ranked_as_those_of_the_test_set(
    dataset, model_with_file, half_suggestions, predict, tmp_path
) -> None:
    theirs = predict(f"--suggestions={half_suggestions}", by=model_with_file)
    texts = zip(dataset.ids("test"), dataset.test_texts(), strict=True)
    (tmp_path / "new.jsonl").write_text(
        "\n".join(json.dumps({"id": record, "text": text}) for record, text in texts)
    )
    ours = predict_answers(
        model_with_file, tmp_path / "new.jsonl", f"--suggestions={half_suggestions}"
    )
    assert list_label_values(ours) == theirs.ids.tolist()
    assert np.array(list_label_values(ours, "score")) == pytest.approx(theirs.scores, abs=1e-5)


def test_results_of_annif_are_suggestions_too(
    model_with_file, half_suggestions, predict, tmp_path
) -> None:
    (tmp_path / "half").mkdir()
    for row in read_records(half_suggestions):
        with open(tmp_path / "half" / f"{row['id']}.annif", "a") as result:
            result.write(f"<{row['label']}>\tany name\t12.3\t{row['score']}\n")
    files = f"--suggestions={half_suggestions}", f"--suggestions=guesses={tmp_path}/half"
    ours, theirs = (predict(file, by=model_with_file).scores for file in files)
    assert np.array_equal(ours, theirs)


REFUSED = {
    "id,label,score\nnobody,name1,1\n": "none of its 1 ids, such as 'nobody', is the id of a text,"
    " such as 'line ",
    "id,label,score\nline 2,name1,much\n": "a.csv, line 2: the score is 'much', not a number;"
    " correct or delete",
    "id,label,score\nline 2,name1,nan\n": "a.csv, line 2: the score is 'nan', not a number; ",
    "text,label\nline 2,name1\n": "a.csv, line 1: no column 'id', there are 'text', 'label'; name"
    " id, label, and",
    "id,label\nline 2,name1,3\n": "a.csv, line 2: 3 fields, the header has 2; ",
    "": "a.csv: is empty; ",
}


@pytest.mark.parametrize("lines", REFUSED)
def test_files_that_are_refused(rerank, tmp_path, lines) -> None:
    (tmp_path / "a.csv").write_text(lines)
    _, said = rerank(tmp_path / "out", f"--suggestions={tmp_path}/a.csv", status=2)
    assert REFUSED[lines] in said
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["model.h5"]


def test_unknown_ids_and_labels_are_counted_and_too_few_texts_are_not_used(
    folder, dataset, rerank, tmp_path
) -> None:
    path = write_suggestions(folder, tmp_path / "a.csv", "held", 0.3)
    with open(path, "a") as file:
        file.write("nobody,name1,1\nline 2,no such label,1\n")
    rows = read_records(path)
    labels = set(dataset.label_names)
    unknown = sum(row["label"] not in labels for row in rows)
    _, said = rerank(tmp_path / "out", f"--suggestions={path}")
    counts = (
        f"1 of {len({row['id'] for row in rows})} ids are unknown, and the labels of {unknown}"
        f" of {len(rows):,} suggestions"
    )
    assert counts in said
    assert "of the held-out instances, it needs 200" in said


def test_what_a_second_stage_does_not_know_is_refused(
    dataset, model_with_file, model, half_suggestions, tmp_path
) -> None:
    (tmp_path / "s.annif").write_text("<http://example.org/cats>\n")
    for by, value, complaint in (
        (
            model,
            half_suggestions,
            "new is unknown; the second stage was fitted with no file of suggestions",
        ),
        (model_with_file, f"other={half_suggestions}", ""),
        (model_with_file, tmp_path / "none.csv", "cannot be read (No such file or directory)"),
        (
            model_with_file,
            tmp_path / "a.txt",
            "neither a .csv file nor a folder of .annif files; give one",
        ),
        (model_with_file, f"half={tmp_path}", "s.annif, line 1: the score is '', not a number"),
    ):
        options = (
            f"--dataset={dataset.path}",
            f"--output={tmp_path}/out.h5",
            f"--suggestions={value}",
        )
        assert complaint in ovaflow("predict", by, options, status=2 if complaint else 0)
    said = ovaflow(
        "predict",
        model_with_file,
        "--text=name1",
        "--text=name2",
        f"--suggestions={half_suggestions}",
        status=2,
    )
    assert "is that of an instance; give the ids of the instances" in said
