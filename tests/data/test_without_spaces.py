"""Texts in scripts that put no spaces between words: they need pieces of words, and are told so."""

import csv
import random

import pytest

from ovaflow.console.errors import InputError
from ovaflow.data.blocks import without_spaces
from ovaflow.data.prepare import prepare
from ovaflow.data.remarks import remarks_on
from ovaflow.data.source import SourceFiles
from ovaflow.settings.models import ChooseFeatures, PrepareSource
from ovaflow.tuning.features import choose_features

TOPICS = {
    "猫": ["猫が好きです", "黒い猫が寝ている"],
    "สุนัข": ["สุนัขวิ่งเร็ว", "เดินเล่นกับสุนัข"],
    "烹饪": ["学习烹饪的书", "简单的烹饪方法"],
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Sentences of one topic or two, no two texts the same."""
    path, draw = tmp_path_factory.mktemp("asia") / "texts.csv", random.Random(1)
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "labels"])
        for number in range(120):
            labels = draw.sample(list(TOPICS), draw.choice([1, 2]))
            rows.writerow(["".join(draw.choice(TOPICS[label]) for label in labels) + f"第{number}。", ";".join(labels)])
    return path


def source(table, kind=PrepareSource, **settings):
    return SourceFiles(kind(format="csv", label_separator=";", test_fraction=0.3, **settings), train=table)


def test_words_are_refused_or_remarked_upon_and_pieces_are_not(table):
    with pytest.raises(InputError, match=r"no token .* set features: \[\{characters: \[1, 3\]\}\], or lower min_df"):
        prepare(source(table, features=["words"]))
    remarks = [remarks_on(prepare(source(table, features=[block]))) for block in ("prefixes=3", "characters=1-3")]
    told = ["many texts have no spaces between words: set features: [{characters: [1, 3]}]"]
    assert [[line for line in lines if "spaces" in line] for lines in remarks] == [told, []]


def test_auto_chooses_pieces(table):
    given = source(table, ChooseFeatures, candidates=["words", "words+pairs"])
    made = choose_features(given, given.settings)
    found = {each["candidate"]: each["metrics"]["P@1"] for each in made["candidates"]}
    assert "characters" in made["chosen"]
    assert found[made["chosen"]] > 0.95
    assert found["words"] == 0


@pytest.mark.parametrize(
    ("texts", "theirs"),
    [
        (["Größe", "кошка", "고양이 사료", "γάτα"], False),
        (["a"] * 8 + ["猫"], True),
        (["a"] * 9 + ["猫"], False),
        ([], False),
    ],
)
def test_which_texts_have_no_spaces(texts, theirs):
    assert without_spaces(texts) == theirs
