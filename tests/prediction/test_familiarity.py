"""Familiarity: texts with few known words, or in another language than those of training."""

from pathlib import Path
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

GERMAN = (
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren, und sollen einander mit "
    "Vernunft begegnen."
)
ENGLISH = (
    "All human beings are born free and equal in dignity and rights, and they are endowed with "
    "reason."
)
FRENCH = (
    "Tous les êtres humains naissent libres et égaux en dignité et en droits, et ils sont doués "
    "de raison."
)
OPTIONS = SimpleNamespace(max_text=1000, max_batch=10, max_top_k=10)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A model whose metrics say that training was in English and a little German."""
    folder = tmp_path_factory.mktemp("familiarity")
    records = []
    for number in range(20):
        for name in ("knights", "dragons"):
            records.append({"text": f"{ENGLISH} {name} {number}", "labels": name})
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


def write_languages(folder: Path, languages: dict[str, int]) -> None:
    """Write metrics.json with the languages of the test texts."""
    model = Predictor.open(folder / "model.h5").model
    content = {"words": 0, "unknown_words": 0, "languages": languages}
    write_json(folder / "metrics.json", "metrics", content, described=model.checksum)


def test_answers_say_how_familiar_each_text_is(folder) -> None:
    served = open_served_model(folder / "model.h5")
    assert served.health()["trained_languages"] == ("en", "de")
    Request, _ = make_request_models(OPTIONS)
    texts = [ENGLISH, GERMAN, FRENCH, "knights unheardof", "the knights 1984", "1984", ""]
    ours = served.predict(Request(texts=texts))["predictions"]
    languages = ["en", "de", "fr", None, None, None, None]
    assert [answer["language"] for answer in ours] == languages
    # stop words are left out on purpose, numbers are no words
    counts = [(answer["words"], answer["known_words"]) for answer in ours[3:]]
    assert counts == [(2, 1), (2, 2), (0, 0), (0, 0)]
    words = ["unknown_words"]
    doubts = [[], words, ["language"], [], [], words, words]
    assert [answer["doubts"] for answer in ours] == doubts


def test_a_remark_on_foreign_languages_follows_a_batch(folder, capsys) -> None:
    texts = (ENGLISH, GERMAN, FRENCH, FRENCH, "")
    write_records(folder / "new.csv", [{"text": text} for text in texts])

    def read_remark(texts: str) -> str:
        ovaflow("predict", f"{folder}/model.h5", texts)
        return capsys.readouterr().err

    said = "2 of 5 texts are in a language that training did not have (fr 2)"
    assert said in read_remark(f"{folder}/new.csv")
    said = "1 of 1 text is in a language that training did not have (fr 1)"
    assert said in read_remark(f"--text={FRENCH}")
    usual = (folder / "metrics.json").read_bytes()
    write_languages(folder, {"en": 19})
    assert "a language" not in read_remark(f"{folder}/new.csv")
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


def test_batches_are_concatenated() -> None:
    first = Familiarity([2], [1], ["en"])
    second = Familiarity([0, 4], [0, 2], [None, "de"])
    both = Familiarity.concatenate([first, second])
    assert both == ([2, 0, 4], [1, 0, 2], ["en", None, "de"])
    assert both.word_count == WordCount.sum([WordCount(2, 1), WordCount(4, 2)]) == (6, 3)
