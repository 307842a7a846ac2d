"""What is said of texts that a model was not trained for: few known words, another language."""

from types import SimpleNamespace

import pytest
from commands import ovaflow
from records import write_records
from synthetic import train_on

from ovaflow.data.dataset import open_dataset
from ovaflow.data.text_language import languages_of_texts
from ovaflow.data.tokens import numbered
from ovaflow.prediction.familiarity import Familiarity, trained_languages
from ovaflow.prediction.predictions import predict_test_set
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.reference import KIND, write_reference
from ovaflow.serving.schemas import requests_within
from ovaflow.serving.served_model import open_served_model
from ovaflow.storage.texts import read_json, write_json

GERMAN = "Alle Menschen sind frei und gleich an Würde und Rechten geboren, und sollen einander mit Vernunft begegnen."
ENGLISH = "All human beings are born free and equal in dignity and rights, and they are endowed with reason."
FRENCH = "Tous les êtres humains naissent libres et égaux en dignité et en droits, et ils sont doués de raison."
OPTIONS = SimpleNamespace(max_text=1000, max_batch=10, max_top_k=10)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model whose training was in English and a little German, by its reference."""
    folder = tmp_path_factory.mktemp("familiarity")
    names = [("knights", "dragons")[n % 2] for n in range(40)]
    records = [{"text": f"{ENGLISH} {name} {n // 2}", "labels": name} for n, name in enumerate(names)]
    write_records(folder / "records.csv", records)
    train_on(folder, "--format=csv", f"--train={folder}/records.csv", "--split=random", "--stop-words=english")
    reference = {"words": 0, "unknown_words": 0, "usual": [], "scores": {"sum": 0, "records": [0]}}
    reference["model"] = Predictor.open(folder / "model.h5").model.checksum
    write_json(folder / "reference.json", KIND, reference | {"languages": {"de": 4, "en": 395, "fr": 1}})
    return folder


def test_what_is_said_of_each_text(folder):
    served = open_served_model(folder / "model.h5")
    assert served.health()["trained_languages"] == ("en", "de")
    Request, _ = requests_within(OPTIONS)
    texts = [ENGLISH, GERMAN, FRENCH, "knights unheardof", "the knights 1984", "1984", ""]
    ours = served.predict(Request(texts=texts))["predictions"]
    assert [each["language"] for each in ours] == ["en", "de", "fr", *[None] * 4]
    # stop words are left out on purpose
    assert [each["known_words"] for each in ours[3:]] == [0.5, 1, 0, 0]
    words = ["unknown_words"]
    assert [each["doubts"] for each in ours] == [[], words, ["language"], [], [], words, words]


def test_what_a_batch_is_told_at_its_end(folder, capsys):
    write_records(f"{folder}/new.csv", [{"text": text} for text in (ENGLISH, GERMAN, FRENCH, FRENCH, "")])

    def remark_on(*asked):
        ovaflow("predict", f"{folder}/model.h5", *asked)
        return capsys.readouterr().err

    assert "2 of 5 texts are in a language that training did not have (fr 2)" in remark_on(f"{folder}/new.csv")
    assert "1 of 1 text is in a language that training did not have (fr 1)" in remark_on(f"--text={FRENCH}")
    content = read_json(folder / "reference.json", KIND)
    few, of_earlier_version = content | {"languages": {"en": 19}}, dict(content)
    del of_earlier_version["languages"]
    for unknown in (few, of_earlier_version):
        write_json(folder / "reference.json", KIND, unknown)
        assert "a language" not in remark_on(f"{folder}/new.csv")
    write_json(folder / "reference.json", KIND, content)


def test_languages_of_training():
    assert trained_languages({"fr": 1, "de": 30, "en": 69}) == ("en", "de", "fr")
    assert trained_languages({"fr": 1, "en": 100}) == ("en",)
    assert trained_languages({"en": 19}) is None


def test_the_reference_counts_languages_of_the_test_set(folder):
    dataset = open_dataset(folder / "dataset.h5")
    model = Predictor.open(folder / "model.h5").model
    write_reference(folder / "other.json", predict_test_set(model, dataset, 1), dataset, model)
    theirs = languages_of_texts(numbered(dataset.test_texts()))
    assert read_json(folder / "other.json", KIND)["languages"] == {"en": len(theirs)}
    assert set(theirs) == {"en"}


def test_parts_are_put_together():
    together = Familiarity.together([Familiarity([0.5], ["en"]), Familiarity([0, 1], [None, "de"])])
    assert (together.known, together.languages) == ([0.5, 0, 1], ["en", None, "de"])
