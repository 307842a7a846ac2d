"""Texts in scripts that put no spaces between words: remarks recommend pieces of words for them."""

import random
from pathlib import Path

import numpy as np
import pytest
from records import write_records

from ovaflow.console.errors import InputError
from ovaflow.dataset.prepare import prepare
from ovaflow.dataset.remarks import collect_remarks
from ovaflow.features.vocabulary import fit_features
from ovaflow.model.ranked_labels import find_hits
from ovaflow.records.source import SourceFiles
from ovaflow.settings.prepare import ChooseFeatures, Prepare, PrepareSource
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_model
from ovaflow.tuning.features import choose_features

TOPICS = {
    "猫": ["猫が好きです", "黒い猫が寝ている"],
    "สุนัข": ["สุนัขวิ่งเร็ว", "เดินเล่นกับสุนัข"],
    "烹饪": ["学习烹饪的书", "简单的烹饪方法"],
}


FILLERS = list("的一是不了人我在有他这中大来上国个到说们")
IN_ENGLISH = {
    "猫": ["black cats sleep", "a cat likes fish"],
    "สุนัข": ["dogs run fast", "walking the dog"],
    "烹饪": ["learning to cook", "cooking with ease"],
}


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """A function that writes a table of sentences of one topic or two, Asian and English ones, no
    two of them the same.
    """

    def write_table(asian, english) -> Path:
        draw = random.Random(1)
        rows = []
        for number in range(asian + english):
            labels = draw.sample(list(TOPICS), draw.choice([1, 2]))
            if number < asian:
                begins = draw.sample(FILLERS, 6) if english else []
                sentences = [draw.choice(TOPICS[label]) for label in labels]
                text = "".join([*begins, *sentences, f"第{number}。"])
            else:
                sentences = [draw.choice(IN_ENGLISH[label]) for label in labels]
                text = f"number{number} {' and '.join(sentences)}"
            rows.append({"text": text, "labels": ";".join(labels)})
        path = tmp_path_factory.mktemp("texts") / "texts.csv"
        write_records(path, draw.sample(rows, len(rows)))
        return path

    return write_table


def measure_precision(table, **settings) -> tuple[float, float]:
    """Measure P@1 of the Asian and of the English test texts."""
    dataset = prepare(make_source(table, label_names=False, **settings))
    ids, _ = train_model(dataset, TrainLabels(), 0.01).top_k(dataset.test.X, 1)
    hits = find_hits(ids, dataset.test.Y)[:, 0]
    asian = np.array([not text.startswith("number") for text in dataset.test.texts])
    return hits[asian].mean(), hits[~asian].mean()


def make_source(table, kind=PrepareSource, **settings) -> SourceFiles:
    return SourceFiles(
        kind(format="csv", label_separator=";", test_fraction=0.3, **settings), train=table
    )


def test_words_are_refused_or_remarked_upon_and_pieces_are_not(write) -> None:
    table = write(120, 0)
    with pytest.raises(
        InputError, match=r"no token .* set features: \[\{characters: \[1, 3\]\}\], or lower min_df"
    ):
        prepare(make_source(table, features=["words"]))
    expected = ["many texts have no spaces between words: set features: [{characters: [1, 3]}]"]
    assert list_space_remarks(table, features=["prefixes=3"]) == expected
    assert list_space_remarks(table, features=["characters=1-3"]) == []


def test_a_part_without_spaces_is_remarked_upon(write) -> None:
    mixed = write(120, 480)
    train = prepare(make_source(mixed)).train.records
    lines = mixed.read_text().splitlines()
    asian = sum("number" not in lines[int(record.removeprefix("line ")) - 1] for record in train)
    advice = "set features: [words, {prefixes: 6}, {characters: [1, 3]}]"
    assert list_space_remarks(mixed) == [
        f"{asian} of {len(train)} training texts have no spaces between words: {advice}"
    ]
    features = ["words", {"prefixes": 6}, {"characters": [1, 3]}]
    assert list_space_remarks(mixed, features=features) == []
    assert measure_precision(mixed)[0] < 0.7
    assert min(measure_precision(mixed, features=features)) > 0.95


@pytest.mark.parametrize(("asian", "english"), [(120, 480), (30, 570)])
def test_auto_chooses_pieces_where_a_part_has_no_spaces(write, asian, english) -> None:
    table = write(asian, english)
    if asian == 30:
        advice = "set features: auto, which tries characters, too"
        [remark] = list_space_remarks(table)
        assert remark.endswith(f"training texts have no spaces between words: {advice}")
    given = make_source(table, ChooseFeatures, candidates=["words", "words+prefixes=6"])
    made = choose_features(given, given.settings)
    assert len(made["candidates"]) == 6
    before = measure_precision(table)
    after = measure_precision(table, features=made["chosen"].split("+"))
    assert after[0] > 0.9 > before[0]
    assert after[1] >= before[1]


@pytest.mark.parametrize(
    ("texts", "spaceless"),
    [
        (["Größe", "кошка", "고양이 사료", "γάτα", "", "12"], 0),
        (["word"] * 98 + ["two 黒猫", "สุนัข"], 2),
        (["word"] * 99 + ["黒猫"], 0),
        (["黒い猫, 猫が", "a word"], 1),
    ],
)
def test_texts_without_spaces_are_counted(texts, spaceless) -> None:
    counts = fit_features(texts, Prepare(min_df=1, max_df=1.0)).counts
    assert counts.get("texts_without_spaces", 0) == spaceless


def list_space_remarks(table, **settings) -> list[str]:
    """List the remarks about spaces."""
    return [
        line
        for line in collect_remarks(prepare(make_source(table, **settings)))
        if "spaces" in line
    ]


def test_auto_chooses_pieces(write) -> None:
    given = make_source(write(120, 0), ChooseFeatures, candidates=["words", "words+pairs"])
    made = choose_features(given, given.settings)
    found = {each["candidate"]: each["metrics"]["P@1"] for each in made["candidates"]}
    assert "characters" in made["chosen"]
    assert found[made["chosen"]] > 0.95
    assert found["words"] == 0
