"""Names of labels are found in texts as by a loop over all words and names."""

from hypothesis import given
from hypothesis import strategies as st
from naive import find_phrases

from ovaflow.features.phrases import Phrases
from ovaflow.features.tokens import tokenize
from ovaflow.features.vocabulary import fit_features
from ovaflow.reading.instances import FIELD_SEPARATOR
from ovaflow.settings.prepare import Prepare

WORDS = st.sampled_from(
    ["art", "arts", "social", "socialist", "socia", "work", "worker", "workers"]
)


@given(
    st.lists(st.lists(WORDS, max_size=9), max_size=6),
    st.lists(st.lists(WORDS, min_size=1, max_size=3).map(tuple), min_size=1, unique=True),
)
def test_phrases_are_found(texts, phrases) -> None:
    sought = Phrases(phrases)
    tokens = tokenize([" ".join(words) for words in texts])
    positions, numbers = sought.find(tokens, sought.find_stems(tokens.words))
    theirs = []
    for start, words in zip(tokens.indptr, texts, strict=False):
        theirs += [(start + place, number) for place, number in find_phrases(words, phrases)]
    assert sorted(zip(positions, numbers, strict=True)) == sorted(theirs)
    assert positions.tolist() == sorted(positions)


def test_long_words_take_no_longer_than_names() -> None:
    # it took minutes
    sought = Phrases([("social", "worker")])
    starts, stems = sought.find_stems(["socials" + "a" * 1_000_000, "work"])
    assert (starts.tolist(), len(stems)) == ([0, 1, 1], 1)


NAMES = ["Social worker", "Worker", "Art (old)", "the", "!"]


def test_names_of_labels_are_features_however_rare() -> None:
    texts = [
        "the workers of social workers",
        f"the art{FIELD_SEPARATOR}old",
        "the social worker",
        "the art, old",
        "",
    ]
    parts = {"text_column": "a,b", "column_weights": [1, 1]}
    settings = Prepare(features=["names"], normalize=False, bias=0.0, sublinear=False, **parts)
    fitted = fit_features(texts, settings, lambda: NAMES)
    assert fitted.transform.feature_names == ["<social worker>", "<worker>", "<art old>"]
    # one name is in more than half of the texts, and one has no word
    counts = (fitted.X.to_scipy().toarray() / fitted.transform.idf).round(3).tolist()
    assert counts == [[1, 2, 0], [0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert fitted.X.places.tolist() == [3, 1, 1, 2, 1]
