"""What is said of texts that a model was not trained for: few known words, another language."""

from types import SimpleNamespace

import pytest
from commands import ovaflow
from records import write_records
from synthetic import prepare_and_train

from ovaflow.dataset.dataset import open_dataset
from ovaflow.features.text_language import detect_languages
from ovaflow.features.tokens import tokenize
from ovaflow.prediction.familiarity import Familiarity, WordCount, find_trained_languages
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.usual_texts import count_test_texts
from ovaflow.serving.schemas import make_request_models
from ovaflow.serving.served_model import open_served_model
from ovaflow.storage.texts import write_json

GERMAN = "Alle Menschen sind frei und gleich an Würde und Rechten geboren, und sollen einander mit Vernunft begegnen."
ENGLISH = "All human beings are born free and equal in dignity and rights, and they are endowed with reason."
FRENCH = "Tous les êtres humains naissent libres et égaux en dignité et en droits, et ils sont doués de raison."
OPTIONS = SimpleNamespace(max_text=1000, max_batch=10, max_top_k=10)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model whose training was in English and a little German, by its metrics."""
    folder = tmp_path_factory.mktemp("familiarity")
    names = [("knights", "dragons")[n % 2] for n in range(40)]
    records = [
        {"text": f"{ENGLISH} {name} {n // 2}", "labels": name} for n, name in enumerate(names)
    ]
    write_records(folder / "records.csv", records)
    prepare_and_train(
        folder,
        "--format=csv",
        f"--train={folder}/records.csv",
        "--split=random",
        "--stop-words=english",
    )
    write_languages(folder, {"de": 4, "en": 395, "fr": 1})
    return folder


def write_languages(folder, languages) -> None:
    """Write metrics.json with the languages of the test texts."""
    model = Predictor.open(folder / "model.h5").model
    content = {"words": 0, "unknown_words": 0, "languages": languages}
    write_json(folder / "metrics.json", "metrics", content, described=model.checksum)


def test_what_is_said_of_each_text(folder) -> None:
    served = open_served_model(folder / "model.h5")
    assert served.health()["trained_languages"] == ("en", "de")
    Request, _ = make_request_models(OPTIONS)
    texts = [ENGLISH, GERMAN, FRENCH, "knights unheardof", "the knights 1984", "1984", ""]
    ours = served.predict(Request(texts=texts))["predictions"]
    assert [each["language"] for each in ours] == ["en", "de", "fr", *[None] * 4]
    # stop words are left out on purpose
    assert [each["known_words"] for each in ours[3:]] == [0.5, 1, 0, 0]
    words = ["unknown_words"]
    assert [each["doubts"] for each in ours] == [[], words, ["language"], [], [], words, words]


def test_what_a_batch_is_told_at_its_end(folder, capsys):
    write_records(
        f"{folder}/new.csv", [{"text": text} for text in (ENGLISH, GERMAN, FRENCH, FRENCH, "")]
    )

    def remark_on(*asked):
        ovaflow("predict", f"{folder}/model.h5", *asked)
        return capsys.readouterr().err

    assert "2 of 5 texts are in a language that training did not have (fr 2)" in remark_on(
        f"{folder}/new.csv"
    )
    assert "1 of 1 text is in a language that training did not have (fr 1)" in remark_on(
        f"--text={FRENCH}"
    )
    usual = (folder / "metrics.json").read_bytes()
    write_languages(folder, {"en": 19})
    assert "a language" not in remark_on(f"{folder}/new.csv")
    (folder / "metrics.json").write_bytes(usual)


def test_languages_of_training() -> None:
    assert find_trained_languages({"fr": 1, "de": 30, "en": 69}) == ("en", "de", "fr")
    assert find_trained_languages({"fr": 1, "en": 100}) == ("en",)
    assert find_trained_languages({"en": 19}) is None


def test_words_and_languages_of_the_test_set_are_counted(folder) -> None:
    dataset = open_dataset(folder / "dataset.h5")
    counted = count_test_texts(dataset, Predictor.open(folder / "model.h5"))
    tokens = tokenize(dataset.test_texts())
    theirs = detect_languages(tokens)
    assert counted["languages"] == {"en": len(theirs)}
    assert set(theirs) == {"en"}
    assert counted["words"] == len(tokens.ids)
    assert 0 <= counted["unknown_words"] < counted["words"]


def test_parts_are_put_together() -> None:
    together = Familiarity.concatenate(
        [Familiarity([2], [1], ["en"]), Familiarity([0, 4], [0, 2], [None, "de"])]
    )
    assert together == ([2, 0, 4], [1, 0, 2], ["en", None, "de"])
    assert together.word_count == WordCount.sum([WordCount(2, 1), WordCount(4, 2)]) == (6, 3)
