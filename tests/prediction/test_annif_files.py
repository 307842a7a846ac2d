"""Suggestions as ``annif index`` writes them, a file for each document, and who reads them."""

import pytest
from animals import train_animals
from commands import ovaflow, predict_answers
from records import write_records
from scipy.special import expit

from ovaflow.prediction.annif_files import AnnifLines
from ovaflow.prediction.answer import Answer, AnsweredLabel
from ovaflow.prediction.answer_files import AnsweredRecord
from ovaflow.reading.suggestions import read_suggestion_rows


def test_a_label_has_what_is_known_of_it() -> None:
    bird = AnsweredLabel(
        id=0, name="bird\u2028s", uri="u:1", notation="598", score=0.25, probability=0.25
    )
    cats = AnsweredLabel(id=1, name="cats", score=0.12346, probability=0.12346)
    written = AnnifLines().write(
        AnsweredRecord(7, None, None, ()), Answer.model_construct(labels=[bird, cats])
    )
    assert written == ("7", "<u:1>\tbird s\t598\t0.2500\ncats\t0.1235\n")


@pytest.fixture
def documents(tmp_path):
    """A folder of documents, and a model of their subjects."""
    for name, text in (("a", "black cats purr"), ("b.c", "birds sing")):
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "model").mkdir()
    return tmp_path, train_animals(tmp_path / "model")


def test_files_lie_beside_the_documents(documents, monkeypatch) -> None:
    folder, model = documents
    monkeypatch.chdir(folder)
    (folder / "a.annif").write_text("of an earlier night")
    asked = model, folder, "--top-k=2"
    ovaflow("predict", *asked, "--output=.")
    theirs = [
        (answer["id"].removesuffix(".txt"), label["uri"], round(float(expit(label["score"])), 4))
        for answer in predict_answers(*asked)
        for label in answer["labels"]
    ]
    assert [each for each in read_suggestion_rows(folder) if each[1]] == theirs
    for file in folder.glob("*.annif"):
        file.rename(file.with_suffix(".tsv"))
    assert len([*folder.iterdir()]) == 5
    # their names say now that they are subjects
    assert "100.0 %" in ovaflow("evaluate", folder, f"--model={model}")


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ("a.txt a.json", "two records are called 'a'"),
        ("123/4", "cannot be a file's name"),
        ("..", "'..'"),
    ],
)
def test_ids_that_are_no_names_of_files(documents, ids, said) -> None:
    folder, model = documents
    write_records(
        folder / "new.csv", [{"id": id, "text": f"s{i}"} for i, id in enumerate(ids.split())]
    )
    asked = "predict", model, folder / "new.csv", "--output-format=annif", f"--output={folder}/out"
    message = ovaflow(*asked, status=2)
    assert said in message
    assert "name another column with --id-column" in message
    assert not (folder / "out").exists()
    ovaflow(*asked, "--id-column=text")
    assert (folder / "out" / "s0.annif").exists()
