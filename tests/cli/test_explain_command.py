import json
import math

import numpy as np
import pytest
from commands import list_words, ovaflow
from records import write_records
from synthetic import prepare_and_train, write_weights

from ovaflow.cli import main
from ovaflow.dataset.dataset import open_dataset
from ovaflow.prediction.predictor import Predictor

TOPICS = {
    "Straßenbau": "Straße Asphalt Brücke Belag",
    "Kaffee & Tee": "Café Tee Röstung Bohne",
    "Tee": "Tee Tasse Kanne Blatt",
    "empty": "",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    rng = np.random.default_rng(0)
    filler = [f"füllwort{i}" for i in range(20)]
    topics = list(TOPICS.values())
    texts = [
        " ".join([*rng.choice(topics[n % 3].split(), 3), *rng.choice(filler, 3)])
        for n in range(120)
    ]
    write_records(
        folder / "records.csv", [{"text": text, "labels": n % 3} for n, text in enumerate(texts)]
    )
    (folder / "names.txt").write_text("\n".join(TOPICS), encoding="utf-8")
    files = [f"--{role}={folder}/records.csv" for role in ("train", "test")]
    return prepare_and_train(
        folder, "--format=csv", files, f"--labels={folder}/names.txt", "--features=words"
    )


@pytest.fixture
def explain(model, monkeypatch):
    """Explains by a model: what was written, read where it is JSON, or the error."""
    monkeypatch.setenv("COLUMNS", "90")

    def run_explain(*arguments, model=f"--model={model}", status=0):
        words = list_words([model or [], arguments])
        written = ovaflow("explain", words, status=status)
        return json.loads(written) if "--json" in words else written

    return run_explain


def find_spans(text, label):
    return {
        each["feature"]: [text[start:end] for start, end in each["spans"]]
        for each in label["up"] + label["down"]
    }


def test_words_of_a_text_add_up_to_the_score(model, explain) -> None:
    text = "Kaffee im CAFE\u0301, dann über die STRASSE zum Tee"
    answer = explain("--text", text, "--label=kaffee & tee", "--label=STRASSENBAU", "--json")
    assert answer["text"] == text
    predictor = Predictor.open(model)
    theirs = predictor.scores(predictor.from_texts([text]), [1, 0])[0]
    for ours, score in zip(answer["labels"], theirs, strict=True):
        parts = [word["contribution"] for word in [*ours["up"], *ours["down"]]]
        assert math.fsum([*parts, ours["bias"], ours["others"]]) == pytest.approx(score, abs=1e-6)
    ours = answer["labels"][0]
    assert (ours["name"], ours["id"]) == ("Kaffee & Tee", 1)
    assert "probability" not in ours
    assert (
        find_spans(text, ours).items() >= {"café": ["CAFE\u0301"], "strasse": ["STRASSE"]}.items()
    )


def test_on_a_terminal(explain) -> None:
    written = explain("--text=Straße und Asphalt", "--labels=1")
    assert {"Straßenbau", "strasse", "asphalt"} <= set(written.split())
    assert "probability" not in written


def test_a_label_alone(explain) -> None:
    (label,) = explain("--label=tee", "--top=2", "--json")["labels"]
    assert {word["feature"] for word in label["up"]} <= {"blatt", "kanne", "tasse", "tee"}
    assert label["positives"] == 40
    assert all(near["name"] != "Tee" for near in label["nearest"])
    assert label["up"][0]["feature"] in explain("--label=tee", "--top=2")


RECORDS = """id,text,labels
r1,roasted bean,Coffee
r2,green leaf,Tea
r3,bean bean coffee,Coffee
,coffee and leaf,Coffee;Tea
"""


@pytest.fixture
def prepared(tmp_path):
    """Prepares records: the dataset."""

    def prepare(records, *options):
        path = tmp_path / "dataset.h5"
        table = tmp_path / "records.csv"
        table.write_text(records)
        files = f"--train={table}", f"--test={table}", f"--output={path}"
        fixed = "--format=csv", "--label-separator=;", "--min-df=1", "--features=words"
        assert main(["prepare", *fixed, *options, *files]) == 0
        return open_dataset(path)

    return prepare


def all_ones(path, dataset):
    """A model of which each weight is 1: a score is the sum of the features."""
    return write_weights(path, dataset, np.ones((2, dataset.n_features)), prune=0.0)


def test_training_records_of_a_label(tmp_path, prepared, explain) -> None:
    dataset = prepared(RECORDS)
    model = str(all_ones(tmp_path / "model.h5", dataset).path)
    asked = ["--label=coffee", f"--dataset={dataset.path}"]
    (label,) = explain(asked, "--json", model=model)["labels"]
    names = [each["record"] for each in label["records"]]
    assert label["records"][names.index("r3")]["words"] == ["bean", "coffee"]
    sums = dataset.train.X.to_scipy().sum(axis=1)[[0, 2, 3]]
    assert [each["score"] for each in label["records"]] == pytest.approx(np.sort(sums))
    assert names == np.array(["r1", "r3", "line 5"])[np.argsort(sums, kind="stable")].tolist()
    written = explain(asked, "--top=2", model=model)
    assert "training records, the lowest scores first" in written
    assert names[2] not in written
    prepared(RECORDS.replace("r1", "r9"))
    assert "made from another dataset than" in explain(asked, model=model, status=2)


def test_html_is_read_without_tags_and_explained_in_its_places(tmp_path, prepared, explain) -> None:
    dataset = prepared(RECORDS.replace("roasted", "<b>roast</b>ed&nbsp;<br>"), "--html")
    model = all_ones(tmp_path / "model.h5", dataset)
    text = "<p>Roast<i>ed</i> coff&#101;e</p>"
    predictor = Predictor(model)
    ours, theirs = (
        predictor.from_texts([each]).to_scipy().toarray() for each in (text, "Roasted coffee")
    )
    np.testing.assert_array_equal(ours, theirs)
    (label,) = explain("--text", text, "--label=Coffee", "--json", model=str(model.path))["labels"]
    assert find_spans(text, label) == {"roasted": ["Roast<i>ed"], "coffee": ["coff&#101;e"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--label=Strasenbau", "did you mean 'Straßenbau'?"),
        ("--label=empty", "no training positives"),
        ("", "nothing to explain"),
        ("--text=a --row=1", "give either --text"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(explain, arguments, said) -> None:
    written = explain(arguments.split(), status=2)
    assert said in written
    assert written.count("\n") == 1


def test_the_model_may_be_an_argument(model, explain, capsys) -> None:
    asked = ["--text=zzz", "--json"]
    assert main(["explain", str(model), *asked]) == 0
    written, said = capsys.readouterr()
    assert said == "ovaflow: the text has no word that the model knows\n"
    assert explain(asked) == json.loads(written)
    for arguments in ([], [str(model), f"--model={model}"]):
        assert "give one MODEL" in explain(arguments, "--text=Tee", model=None, status=2)
