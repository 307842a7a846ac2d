"""Suggestions in the format of ``annif index``: a file for each document."""

from pathlib import Path

import pytest
from animals import train_animals
from commands import ovaflow, predict_answers
from records import write_records
from scipy.special import expit

from ovaflow.prediction.annif_files import AnnifLines
from ovaflow.prediction.answer import Answer, AnsweredLabel
from ovaflow.prediction.answer_files import AnsweredRecord
from ovaflow.reading.suggestions import read_suggestion_rows


def test_a_line_has_uri_name_notation_and_score_of_a_label() -> None:
    bird = AnsweredLabel(
        id=0, name="bird\u2028s", uri="u:1", notation="598", score=0.25, probability=0.25
    )
    cats = AnsweredLabel(id=1, name="cats", score=0.12346, probability=0.12346)
    written = AnnifLines().write(
        AnsweredRecord(7, None, None, ()), Answer.model_construct(labels=[bird, cats])
    )
    assert written == ("7", "<u:1>\tbird s\t598\t0.2500\ncats\t0.1235\n")


@pytest.fixture
def documents(tmp_path) -> tuple[Path, Path]:
    """A folder of documents, and a model of their subjects."""
    (tmp_path / "a.txt").write_text("black cats purr")
    (tmp_path / "b.c.txt").write_text("birds sing")
    (tmp_path / "model").mkdir()
    return tmp_path, train_animals(tmp_path / "model")


def test_files_are_written_next_to_the_documents(documents, monkeypatch) -> None:
    folder, model = documents
    monkeypatch.chdir(folder)
    (folder / "a.annif").write_text("of an earlier night")
    ovaflow("predict", model, folder, "--top-k=2", "--output=.")
    theirs = []
    for answer in predict_answers(model, folder, "--top-k=2"):
        document = answer["id"].removesuffix(".txt")
        for label in answer["labels"]:
            theirs.append((document, label["uri"], round(float(expit(label["score"])), 4)))
    ours = [row for row in read_suggestion_rows(folder) if row[1]]
    assert ours == theirs
    for file in folder.glob("*.annif"):
        file.rename(file.with_suffix(".tsv"))
    assert len(list(folder.iterdir())) == 5
    # with these names they are subjects, not suggestions
    assert "100.0 %" in ovaflow("evaluate", folder, f"--model={model}")


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ("a.txt a.json", "two records are called 'a'"),
        ("123/4", "cannot be a file's name"),
        ("..", "'..'"),
    ],
)
def test_ids_that_cannot_be_names_of_files_are_refused(documents, ids, said) -> None:
    folder, model = documents
    records = [{"id": id, "text": f"s{number}"} for number, id in enumerate(ids.split())]
    write_records(folder / "new.csv", records)
    options = ["--output-format=annif", f"--output={folder}/out"]
    message = ovaflow("predict", model, folder / "new.csv", options, status=2)
    assert said in message
    assert "name another column with --id-column" in message
    assert not (folder / "out").exists()
    ovaflow("predict", model, folder / "new.csv", options, "--id-column=text")
    assert (folder / "out" / "s0.annif").exists()
