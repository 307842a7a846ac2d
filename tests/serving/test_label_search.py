"""Labels are found as people type them, compared with a slow reference."""

import h5py
import naive
import pytest
from animals import HERE, VOCABULARY, write_animals
from commands import ovaflow
from hypothesis import given
from hypothesis import strategies as st
from synthetic import train_model_file

from ovaflow.dataset.dataset import open_dataset
from ovaflow.serving.label_search import LabelSearch
from ovaflow.serving.served_model import open_served_model

WORDS = st.sampled_from(
    ["art", "Art", "history", "story", "kunst", "größe", "GRÖSSE", "École", "art’s", "«art»", "of"]
    + ["1914–1918", "1918", "c++", "a", "b", "ab", "\u0939\u093f\u0928"]
)
NAMES = st.builds(
    "".join, st.lists(WORDS | st.sampled_from([" ", " ", "-", ", ", "\u00a0"]), max_size=5)
)
ALTERNATIVES = st.lists(NAMES.filter(bool), max_size=3)
IDENTIFIERS = st.sampled_from(
    ["", "p1", "p12", "P12", "http://yso.fi/p12", "https://yso.fi/p12/", "urn:x:p12", "4040236-1"]
)
NOTATIONS = st.sampled_from(["", "7", "709", "709.2", "A", "ab"])
LABELS = st.lists(st.tuples(NAMES, ALTERNATIVES, IDENTIFIERS, NOTATIONS), max_size=8)
SEARCHES = (
    NAMES
    | IDENTIFIERS
    | NOTATIONS
    | st.sampled_from(["P12/", "http://yso.fi/P12", "/", "70", "\udcff"])
)


@given(LABELS, SEARCHES)
def test_labels_are_found_and_ordered_as_by_a_slow_reference(labels, search) -> None:
    names = [name for name, _, _, _ in labels]
    joined = ["\n".join(alternatives) for _, alternatives, _, _ in labels]
    uris = [uri for _, _, uri, _ in labels]
    notations = [notation for _, _, _, notation in labels]
    ours = LabelSearch(names, [joined], uris, notations).find(search, 0, 99)
    theirs = naive.find_labels(search, labels)
    assert [tuple(found) for found in ours.labels] == theirs
    assert ours.total == len(theirs)


ALTERNATIVE_NAMES = """
:cats skos:altLabel "house cats"@en, "felines"@en, "missar"@sv, "Katzen"@de, "Felis catus" .
:dogs skos:altLabel "hounds\\nof all kinds"@en .
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Models of a vocabulary with alternative names, and of the same without any."""
    models = {}
    for name, content in (("with", VOCABULARY + ALTERNATIVE_NAMES), ("without", VOCABULARY)):
        folder = tmp_path_factory.mktemp(name)
        command = write_animals(folder)
        (folder / "animals.ttl").write_text(content, encoding="utf-8")
        ovaflow(command, f"--output={folder}/animals.h5")
        dataset = open_dataset(folder / "animals.h5")
        models[name] = train_model_file(folder / "model.h5", dataset)
    return models


@pytest.fixture(scope="module")
def served(models):
    """The model with alternative names."""
    return open_served_model(models["with"])


def find(served, search) -> list[tuple]:
    """Find labels: their names, and the alternative names by which they are found."""
    labels = served.find_labels(search, 0, 9)["labels"]
    return [(label["name"], label.get("found_by")) for label in labels]


def test_labels_are_found_by_alternative_names_in_the_language_of_the_names(served) -> None:
    assert find(served, "feline") == [("cats", "felines")]
    assert find(served, "cat") == [("cats", None)]
    assert find(served, "cat house") == [("cats", "house cats")]
    assert find(served, "catus") == [("cats", "Felis catus")]
    assert find(served, "kinds hounds") == [("dogs", "hounds of all kinds")]
    assert find(served, "missar") == find(served, "Katzen") == []
    swedish = served.in_language("sv")
    assert find(swedish, "miss") == [("katter", "missar")]
    assert find(swedish, "catus") == [("katter", "Felis catus")]
    assert find(swedish, "house") == []


def test_labels_are_found_by_the_end_of_their_uris(served) -> None:
    for search in ("birds", f"{HERE}birds", f"https{HERE[4:]}birds/", "example.org/BIRDS"):
        assert find(served.in_language("fi"), search) == [("linnut", None)]
    assert find(served, HERE) == []


def list_groups(model) -> set[str]:
    """List the names of all groups and arrays of a model file."""
    names: list[str] = []
    with h5py.File(model) as file:
        file.visit(names.append)
    return set(names)


def test_only_alternative_names_that_a_vocabulary_has_are_stored(models) -> None:
    added = list_groups(models["with"]) - list_groups(models["without"])
    in_languages = {f"label_alternatives/{language}" for language in ("en", "sv", "und")}
    arrays = {f"{name}/{array}" for name in in_languages for array in ("utf8", "offsets")}
    assert added == {"label_alternatives", *in_languages, *arrays}
    assert find(open_served_model(models["without"]), "feline") == []
