import random
import unicodedata

import naive
import numpy as np
import pytest
import scipy.sparse
import snowballstemmer
from hypothesis import assume, example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from ovaflow.console.errors import InputError
from ovaflow.features import tokens, vocabulary
from ovaflow.features.blocks import make_feature_locator, make_feature_namer
from ovaflow.features.tfidf import TfIdf, apply_tfidf_to_counts
from ovaflow.features.tokens import normal_form
from ovaflow.features.vocabulary import fit_features, fit_tokens, read_tokens
from ovaflow.settings.prepare import Prepare
from ovaflow.sparse.csr import from_scipy

WORDS = [
    "der",
    "das",
    "Straße",
    "STRASSE",
    "Äpfel",
    "äpfel",
    "2005",
    "x",
    "abc3",
    "tietoa",
    "e-mail",
    "snake_case",
]
texts_of_words = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=2, max_size=12
)


def make_corpus(n=200, seed=0) -> list[str]:
    """Make texts of 30 words each, whose frequencies fall by Zipf's law."""
    generator = np.random.default_rng(seed)
    words = np.array([f"wort{i}ä" for i in range(300)])
    texts = []
    for _ in range(n):
        numbers = np.minimum(generator.zipf(1.4, size=30), 300) - 1
        texts.append(" ".join(words[numbers]))
    return texts


def split_words(text) -> list[str]:
    return naive.tokens(normal_form(text))


STEM = snowballstemmer.stemmer("finnish").stemWord
THEIRS = {
    "words": {"tokenizer": split_words},
    "pairs": {"tokenizer": split_words, "ngram_range": (2, 2)},
    "prefixes": {
        "analyzer": lambda text: [f"{word[:6]}*" for word in split_words(text) if len(word) > 6]
    },
    "stems=finnish": {"analyzer": lambda text: [f"{STEM(word)}-" for word in split_words(text)]},
    "characters=3-5": {
        "analyzer": "char_wb",
        "ngram_range": (3, 5),
        "preprocessor": lambda text: " ".join(split_words(text)),
    },
}


def compute_theirs(train, test, block="words", **options) -> tuple[np.ndarray, list[str]]:
    """Compute scikit-learn's tf-idf, with idf log(N/df) instead of its log(N/df) + 1."""
    vectorizer = TfidfVectorizer(
        lowercase=False, token_pattern=None, smooth_idf=False, **THEIRS[block], **options
    )
    vectorizer.fit(train)
    vectorizer.idf_ = vectorizer.idf_ - 1
    names = vectorizer.get_feature_names_out()
    if "char" in block:
        names = [f'"{name}"' for name in names]
    return vectorizer.transform(test).toarray(), list(names)


LIMITS = [(2, 150, True), (3, 40, False), (0.02, 0.3, True)]


@pytest.mark.parametrize(
    ("block", "limits"),
    [*((block, LIMITS[0]) for block in THEIRS), *(("words", limits) for limits in LIMITS[1:])],
)
def test_each_block_is_as_in_scikit_learn(block, limits) -> None:
    train = make_corpus()
    test = [*make_corpus(50, seed=1), "", "ei-tunneta TIETOKONEITA", "wort1ä"]
    min_df, max_df, normalized = limits
    settings = {
        "min_df": min_df,
        "max_df": max_df,
        "normalize": normalized,
        "sublinear": False,
        "bias": 0.0,
    }
    fitted = fit_features(train, Prepare(features=[block], **settings))
    options = {"min_df": min_df, "max_df": max_df, "norm": "l2" if normalized else None}
    for texts, ours in ((train, fitted.X), (test, fitted.transform.transform(test))):
        theirs, names = compute_theirs(train, texts, block, **options)
        assert sorted(fitted.transform.feature_names) == sorted(names)
        order = [fitted.transform.feature_names.index(name) for name in names]
        np.testing.assert_allclose(
            ours.to_scipy().toarray()[:, order], theirs, rtol=1e-5, atol=1e-7
        )


def test_several_blocks_are_next_to_each_other() -> None:
    train = make_corpus()
    blocks = ["pairs", "words", {"prefixes": 5}, {"stems": ["german", "finnish"]}, "characters"]
    settings = {"normalize": False, "bias": 0.0}
    ours = fit_features(train, Prepare(features=blocks, **settings))
    names = []
    matrices = []
    for block in blocks:
        single = fit_features(train, Prepare(features=[block], **settings))
        names += single.transform.feature_names
        matrices.append(single.X.to_scipy())
    assert ours.transform.feature_names == names
    theirs = scipy.sparse.hstack(matrices)
    np.testing.assert_array_equal(ours.X.to_scipy().toarray(), theirs.toarray())


def test_stop_words_are_in_no_block(tmp_path) -> None:
    (tmp_path / "stop.txt").write_text("STRASSE\n\nauf\n")
    texts = ["ab Straße cd", "ab auf cd", "xy"]
    settings = {"min_df": 1, "max_df": 1.0, "features": ["words", "pairs"]}
    fitted = fit_features(texts, Prepare(stop_words=str(tmp_path / "stop.txt"), **settings))
    assert fitted.transform.feature_names == ["ab", "cd", "xy", "ab cd"]
    assert fitted.transform.left_out == ("auf", "strasse")
    german = fit_features(["ab und cd", "cd"], Prepare(stop_words="german", **settings))
    assert german.transform.feature_names == ["ab", "ab cd"]
    with pytest.raises(
        InputError, match="no stop words for the language 'klingon'; there are arabic"
    ):
        fit_features(texts, Prepare(stop_words="klingon"))


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("anna", [(0, 4)]),
        ("ann*", [(0, 3)]),
        ("ann-", [(0, 4)]),
        ('"na"', [(2, 4)]),
        ('" an"', [(0, 2)]),
        ('"n"', [(1, 2), (2, 3)]),
        ('"na "', [(2, 4)]),
        ('" "', [(0, 0), (4, 4)]),
    ],
)
def test_features_have_their_places_in_a_word(name, places) -> None:
    locate = make_feature_locator(["words", "prefixes=3", "stems=swedish", "characters=1-3"])
    assert [(start, end) for each, start, end in locate("anna") if each == name] == places


@pytest.mark.parametrize(
    ("texts", "max_features", "tfidf", "names"),
    [
        (["bb aa cc", "bb dd cc", "bb aa", "ee"], None, True, "bb aa cc dd ee"),
        (["bb aa cc", "bb dd cc", "bb aa", "ee"], 2, True, "bb aa"),
        # a token of every text has idf 0
        (["aa bb", "aa cc"], None, True, "bb cc"),
        (["aa bb"], None, False, "aa bb"),
    ],
)
def test_features_are_sorted_by_falling_document_frequency_then_name(
    texts, max_features, tfidf, names
) -> None:
    settings = Prepare(min_df=1, max_df=1.0, max_features=max_features)
    assert fit_features(texts, settings, tfidf=tfidf).transform.feature_names == names.split()


@pytest.mark.parametrize("words", ["plain", "symbols"])
@pytest.mark.parametrize("tfidf", [True, False])
def test_a_transform_is_rebuilt_from_its_parameters(tfidf, words) -> None:
    train = [f"{text} c++" for text in make_corpus()]
    test = [*make_corpus(50, seed=1), "", "nothing known here", "c++ c"]
    settings = Prepare(
        features=["words", "pairs"],
        words=words,
        stop_words="german",
        sublinear=tfidf,
        bias=0.5,
        max_df=1.0,
    )
    first = fit_features(train, settings, tfidf=tfidf).transform
    idf = first.idf if tfidf else None
    second = TfIdf.from_parameters(first.parameters, first.feature_names, idf)
    for ours, theirs in zip(second.transform(test), first.transform(test), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@example([f"wort{i} e-mail" for i in range(40)], 1, 3)
@given(texts_of_words, st.integers(1, 20), st.sampled_from([1, 3]))
def test_batches_and_threads_change_nothing(texts, batch, threads) -> None:
    settings = Prepare(features=["words", "pairs"], min_df=1, max_df=1.0)
    try:
        whole = fit_features(texts, settings)
    except InputError:
        assume(False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_BATCH_CHARACTERS", batch)
        patch.setattr(vocabulary, "_PART_TOKENS", batch)
        found, _ = read_tokens(iter(texts), threads)
        batched = fit_tokens(found, settings, list, tfidf=True, threads=threads)
    assert batched.transform.feature_names == whole.transform.feature_names
    for X in batched.X, batched.transform.transform(iter(texts)):
        for ours, theirs in zip(X, whole.X, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_full_vocabulary_forgets_rare_words(monkeypatch) -> None:
    monkeypatch.setattr(tokens, "_BATCH_CHARACTERS", 500)
    monkeypatch.setattr(vocabulary, "_PART_TOKENS", 64)
    monkeypatch.setattr(vocabulary, "_MAX_WORDS", 100)
    monkeypatch.setattr(vocabulary, "_MAX_PAIRS", 50)
    texts = [f"common{i % 5} often{i % 20} rare{i} once{i}x more{i % 3}" for i in range(500)]
    fitted = fit_features(texts, Prepare(features=["words", "pairs"], min_df=2, max_df=0.5))
    kept = (
        {f"common{i}" for i in range(5)}
        | {f"often{i}" for i in range(20)}
        | {f"more{i}" for i in range(3)}
    )
    assert set(fitted.transform.feature_names) == kept | {
        f"common{i % 5} often{i}" for i in range(20)
    }
    assert fitted.counts["tokens_forgotten"] > 800
    assert fitted.X.n_rows == 500


def test_pairs_that_do_not_fit_are_counted_if_they_are_frequent(monkeypatch) -> None:
    monkeypatch.setattr(vocabulary, "_PART_TOKENS", 64)
    monkeypatch.setattr(vocabulary, "_MAX_PAIRS", 300)
    # each word is frequent, most pairs are not
    texts = [
        f"common{i % 5} often{i % 20} one{i % 7} two{i % 41} three{i % 43}" for i in range(500)
    ]
    fitted = fit_features(texts, Prepare(features=["pairs"], min_df=15, max_df=0.5))
    assert fitted.counts["pairs_forgotten"] > 100
    assert sorted(fitted.transform.feature_names) == sorted(
        f"common{i % 5} often{i}" for i in range(20)
    )


any_text = st.text(st.characters(codec="utf-8") | st.characters(categories=["Cs"]))


@example("ǰ ͅ ΐ ẞ ﬁ ½ ²³ １２ Ⅷ")
@example("a\u0301 \u1e9b\u0323 \u0345\u0301 ᾴ")
@given(any_text)
def test_normal_form_is_stable_and_independent_of_composition(text) -> None:
    form = normal_form(text)
    assert normal_form(form) == form
    assert normal_form(unicodedata.normalize("NFD", text)) == form
    assert normal_form(unicodedata.normalize("NFKD", text)) == form


@pytest.mark.parametrize("value", [0.5, -1.0, 1e20, np.inf, np.nan])
def test_values_that_are_no_counts_are_refused(value) -> None:
    with pytest.raises(InputError, match="not a count"):
        apply_tfidf_to_counts(from_scipy(np.array([[1.0, value]])), sublinear=True)


def test_characters_are_located_in_a_long_word() -> None:
    # it took two minutes
    word = "".join(map(chr, random.Random(0).choices(range(0x4E00, 0x9F00), k=200_000)))
    theirs = [(f'"{word[start : start + 4]}"', start, start + 4) for start in range(len(word) - 3)]
    assert [*make_feature_locator(["characters=4-4"])(word)][1:-1] == theirs


def test_long_words_are_stemmed_by_their_first_letters() -> None:
    # it took 8 s, in which no other thread ran
    name_stems = make_feature_namer(["stems=catalan"])
    assert list(name_stems("í" * 1_000_000)) == list(name_stems("í" * 1000))
