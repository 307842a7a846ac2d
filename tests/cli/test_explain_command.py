import csv
import json
import math

import numpy as np
import pytest
from synthetic import train_on, write_weights

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.prediction.predictor import Predictor

TOPICS = {
    "Straßenbau": "Straße Asphalt Brücke Belag",
    "Kaffee & Tee": "Café Tee Röstung Bohne",
    "Tee": "Tee Tasse Kanne Blatt",
    "empty": "",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("model"), np.random.default_rng(0)
    filler, topics = [f"füllwort{i}" for i in range(20)], list(TOPICS.values())
    with open(folder / "records.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", "labels"])
        for n in range(120):
            table.writerow([" ".join([*rng.choice(topics[n % 3].split(), 3), *rng.choice(filler, 3)]), n % 3])
    (folder / "names.txt").write_text("\n".join(TOPICS), encoding="utf-8")
    files = [f"--{role}={folder}/records.csv" for role in ("train", "test")]
    return train_on(folder, "--format=csv", *files, f"--labels={folder}/names.txt", "--features=words")


def test_words_of_a_text_add_up_to_the_score(model, capsys):
    text = "Kaffee im CAFE\u0301, dann über die STRASSE zum Tee"
    assert main(["explain", f"--model={model}", "--text", text, "--label=kaffee & tee", "--label=Tee", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["text"] == text
    predictor = Predictor.open(model)
    theirs = predictor.scores(predictor.from_texts([text]), [1, 2])[0]
    for ours, score in zip(answer["labels"], theirs, strict=True):
        parts = [word["contribution"] for side in ("up", "down") for word in ours[side]]
        assert math.fsum([*parts, ours["bias"], ours["others"]]) == pytest.approx(score, abs=1e-6)
    ours = answer["labels"][0]
    assert (ours["name"], ours["id"]) == ("Kaffee & Tee", 1)
    assert "probability" not in ours
    places = {word["feature"]: [text[start:end] for start, end in word["spans"]] for word in ours["up"] + ours["down"]}
    assert places["café"] == ["CAFE\u0301"]
    assert places["strasse"] == ["STRASSE"]


def test_on_a_terminal(model, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    assert main(["explain", f"--model={model}", "--text=Straße und Asphalt", "--labels=1"]) == 0
    written = capsys.readouterr().out
    assert {"Straßenbau", "strasse", "asphalt"} <= set(written.split())
    assert "probability" not in written


def test_a_label_alone(model, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    assert main(["explain", f"--model={model}", "--label=tee", "--top=2", "--json"]) == 0
    (label,) = json.loads(capsys.readouterr().out)["labels"]
    assert {word["feature"] for word in label["up"]} <= {"blatt", "kanne", "tasse", "tee"}
    assert label["positives"] == 40
    assert all(near["name"] != "Tee" for near in label["nearest"])
    assert main(["explain", f"--model={model}", "--label=tee", "--top=2"]) == 0
    assert all(word["feature"] in capsys.readouterr().out for word in label["up"][:1])


RECORDS = """id,text,labels
r1,roasted bean,Coffee
r2,green leaf,Tea
r3,bean bean coffee,Coffee
,coffee and leaf,Coffee;Tea
"""


def test_training_records_of_a_label(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    path, table = tmp_path / "dataset.h5", tmp_path / "records.csv"
    table.write_text(RECORDS)
    files = f"--train={table}", f"--test={table}", f"--output={path}"
    assert main(["prepare", "--format=csv", "--label-separator=;", "--min-df=1", "--features=words", *files]) == 0
    dataset = open_dataset(path)
    model = write_weights(tmp_path / "model.h5", dataset, np.ones((2, dataset.n_features)), prune=0.0).path
    capsys.readouterr()
    asked = ["explain", str(model), "--label=coffee", f"--dataset={path}"]
    assert main([*asked, "--json"]) == 0
    (label,) = json.loads(capsys.readouterr().out)["labels"]
    names = [each["record"] for each in label["records"]]
    assert {*names} == {"r1", "r3", "line 5"}
    assert label["records"][names.index("r3")]["words"] == ["bean", "coffee"]
    # each weight is 1: the score is the sum of the features
    sums = dataset.train.X.to_scipy().sum(axis=1)[[0, 2, 3]]
    assert [each["score"] for each in label["records"]] == pytest.approx(np.sort(sums))
    assert names == [["r1", "r3", "line 5"][place] for place in np.argsort(sums, kind="stable")]
    assert main([*asked, "--top=2"]) == 0
    written = capsys.readouterr().out
    assert "training records, the lowest scores first" in written
    assert names[2] not in written
    table.write_text(RECORDS.replace("r1", "r9"))
    assert main(["prepare", "--format=csv", "--label-separator=;", "--min-df=1", *files]) == 0
    assert main(asked) == 2
    assert "made from another dataset than" in capsys.readouterr().err


def test_html_is_read_without_tags_and_explained_in_its_places(tmp_path, capsys):
    path, table = tmp_path / "dataset.h5", tmp_path / "records.csv"
    table.write_text(RECORDS.replace("roasted", "<b>roast</b>ed&nbsp;<br>"))
    files = f"--train={table}", f"--test={table}", f"--output={path}"
    options = "--format=csv", "--label-separator=;", "--min-df=1", "--features=words", "--html"
    assert main(["prepare", *options, *files]) == 0
    dataset = open_dataset(path)
    model = write_weights(tmp_path / "model.h5", dataset, np.ones((2, dataset.n_features)), prune=0.0)
    text, predictor = "<p>Roast<i>ed</i> coff&#101;e</p>", Predictor(model)
    ours, theirs = (predictor.from_texts([each]).to_scipy().toarray() for each in (text, "Roasted coffee"))
    np.testing.assert_array_equal(ours, theirs)
    capsys.readouterr()
    assert main(["explain", str(model.path), "--text", text, "--label=Coffee", "--json"]) == 0
    (label,) = json.loads(capsys.readouterr().out)["labels"]
    places = {word["feature"]: [text[start:end] for start, end in word["spans"]] for word in label["up"]}
    assert places == {"roasted": ["Roast<i>ed"], "coffee": ["coff&#101;e"]}


def test_case_folding_finds_a_label(model, capsys):
    assert main(["explain", f"--model={model}", "--label=STRASSENBAU", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"][0]["name"] == "Straßenbau"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--label=Strasenbau"], "did you mean 'Straßenbau'?"),
        (["--label=empty"], "no training positives"),
        ([], "nothing to explain"),
        (["--text=a", "--row=1"], "give either --text"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(model, capsys, arguments, said):
    assert main(["explain", f"--model={model}", *arguments]) == 2
    written = capsys.readouterr().err
    assert said in written
    assert written.count("\n") == 1


def test_the_model_may_be_an_argument(model, capsys):
    assert main(["explain", str(model), "--text=zzz", "--json"]) == 0
    written = capsys.readouterr()
    assert written.err == "ovaflow: the text has no word that the model knows\n"
    assert main(["explain", f"--model={model}", "--text=zzz", "--json"]) == 0
    assert capsys.readouterr().out == written.out
    for arguments in ([], [str(model), f"--model={model}"]):
        assert main(["explain", *arguments, "--text=Tee"]) == 2
        assert "give one MODEL" in capsys.readouterr().err
