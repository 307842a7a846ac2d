"""Tokens, vocabulary and tf-idf weights."""

import unicodedata

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from ovaflow.console.errors import InputError
from ovaflow.data import tfidf as module
from ovaflow.data.tfidf import TfIdf, learn, weigh_counts
from ovaflow.data.tokens import normal_form, tokenizer
from ovaflow.settings.models import Prepare
from ovaflow.sparse.csr import from_scipy

WORDS = ["der", "das", "Straße", "STRASSE", "Äpfel", "äpfel", "2005", "x", "abc3", "tietoa", "e-mail", "snake_case"]
texts_of_words = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=2, max_size=12)


def corpus(n=200, seed=0):
    generator = np.random.default_rng(seed)
    words = np.array([f"wort{i}ä" for i in range(300)])
    return [" ".join(words[np.minimum(generator.zipf(1.4, size=30), 300) - 1]) for _ in range(n)]


def theirs_of(train, test, **options):
    """scikit-learn's tf-idf with idf log(N/df) instead of its log(N/df) + 1."""
    vectorizer = TfidfVectorizer(
        tokenizer=tokenizer(), lowercase=False, token_pattern=None, smooth_idf=False, **options
    )
    vectorizer.fit(train)
    vectorizer.idf_ = vectorizer.idf_ - 1
    return vectorizer.transform(test).toarray(), list(vectorizer.get_feature_names_out())


@pytest.mark.parametrize(("min_df", "max_df", "normalized"), [(2, 0.5, True), (3, 40, False), (0.02, 0.3, True)])
def test_as_scikit_learn(min_df, max_df, normalized):
    train, test = corpus(), corpus(50, seed=1)
    learned = learn(train, Prepare(min_df=min_df, max_df=max_df, sublinear=False, normalize=normalized, bias=0.0))
    options = {"min_df": min_df, "max_df": max_df, "norm": "l2" if normalized else None}
    for texts, ours in ((train, learned.X), (test, learned.transform.transform(test))):
        theirs, names = theirs_of(train, texts, **options)
        assert sorted(learned.transform.feature_names) == names
        ours = ours.to_scipy().toarray()[:, np.argsort(learned.transform.feature_names)]
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


def test_features_by_falling_document_frequency_then_name():
    learned = learn(["bb aa cc", "bb dd cc", "bb aa", "ee"], Prepare(min_df=1, max_df=1.0))
    assert learned.transform.feature_names == ["bb", "aa", "cc", "dd", "ee"]
    fewer = learn(["bb aa cc", "bb dd cc", "bb aa", "ee"], Prepare(min_df=1, max_df=1.0, max_features=2))
    assert fewer.transform.feature_names == ["bb", "aa"]
    # a token of every text says nothing
    assert learn(["aa bb", "aa cc"], Prepare(min_df=1, max_df=1.0)).transform.feature_names == ["bb", "cc"]
    assert learn(["aa bb"], Prepare(min_df=1, max_df=1.0), tfidf=False).transform.feature_names == ["aa", "bb"]


@pytest.mark.parametrize("tfidf", [True, False])
def test_rebuilt_from_parameters(tfidf):
    train, test = corpus(), [*corpus(50, seed=1), "", "nothing known here"]
    first = learn(train, Prepare(sublinear=tfidf, bias=0.5), tfidf=tfidf).transform
    given_back = {name: getattr(first, name) for name in ("sublinear", "normalize", "bias", "token_pattern")}
    second = TfIdf.from_parameters(given_back, first.feature_names, first.idf if tfidf else None)
    for ours, theirs in zip(second.transform(test), first.transform(test), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@given(texts_of_words, st.integers(1, 20))
def test_batches_change_nothing(texts, batch):
    try:
        whole = learn(texts, Prepare(min_df=1, max_df=1.0))
    except InputError:
        assume(False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BATCH", batch)
        batched = learn(iter(texts), Prepare(min_df=1, max_df=1.0))
    assert batched.transform.feature_names == whole.transform.feature_names
    for ours, theirs in zip(batched.X, whole.X, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(batched.transform.transform(iter(texts)), whole.X, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_vocabulary_without_room_forgets_rare_tokens(monkeypatch):
    monkeypatch.setattr(module, "_BATCH", 64)
    monkeypatch.setattr(module, "_ROOM", 100)
    texts = [f"common{i % 5} often{i % 20} rare{i} once{i}x" for i in range(500)]
    learned = learn(texts, Prepare(min_df=2, max_df=0.5))
    assert set(learned.transform.feature_names) == {f"common{i}" for i in range(5)} | {f"often{i}" for i in range(20)}
    assert learned.counts["tokens_forgotten"] > 800
    assert learned.X.n_rows == 500


@pytest.mark.parametrize("texts", [[], ["same", "same"], ["12 34", "5"]])
def test_nothing_to_learn(texts):
    with pytest.raises(InputError, match=r"no (training texts|token occurs)"):
        learn(texts, Prepare(min_df=1, max_df=1.0))


any_text = st.text(st.characters(codec="utf-8") | st.characters(categories=["Cs"]))


@example("ǰ ͅ ΐ ẞ ﬁ ½ ²³ １２ Ⅷ")
@example("a\u0301 \u1e9b\u0323 \u0345\u0301 ᾴ")
@given(any_text)
def test_normal_form_is_stable_and_blind_to_composition(text):
    form = normal_form(text)
    assert normal_form(form) == form
    assert normal_form(unicodedata.normalize("NFD", text)) == form
    assert normal_form(unicodedata.normalize("NFKD", text)) == form


def is_of_words(character):
    return character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")


@given(any_text)
def test_tokens_are_words_and_no_numbers(text):
    tokens = tokenizer()(text)
    assert all(len(token) >= 2 and not token.isdecimal() for token in tokens)
    assert all(all(map(is_of_words, token)) for token in tokens)
    assert tokenizer()(" ".join(tokens)) == tokens


def test_tokens():
    tokens = tokenizer()
    assert tokens("Straße, STRASSE & Strasse: 3 Ä 2005 a3 20th") == ["strasse"] * 3 + ["a3", "20th"]
    assert tokens("A\u0308pfel ÄPFEL äpfel") == ["äpfel"] * 3
    assert tokens("ﬁnden e-mail snake_case") == ["finden", "mail", "snake_case"]
    assert tokens("हिन्दी भाषा में, ภาษาไทย מִלָּה") == ["हिन्दी", "भाषा", "में", "ภาษาไทย", "מִלָּה"]
    assert tokens("1" * 100_000) == []
    assert tokens("\ud800 lone \udfff") == ["lone"]


def test_counts_weighed():
    counts = from_scipy(np.array([[1, 0, 2], [0, 0, 3], [0, 0, 0], [4, 0, 0]]))
    ours, idf = weigh_counts(counts, sublinear=False)
    np.testing.assert_allclose(idf, [np.log(2), 0, np.log(2)], rtol=1e-6)
    theirs = np.array([[1, 0, 2], [0, 0, 3], [0, 0, 0], [4, 0, 0]]) * np.log(2)
    np.testing.assert_allclose(ours.to_scipy().toarray(), theirs, rtol=1e-6)


@pytest.mark.parametrize("value", [0.5, -1.0, 1e20, np.inf, np.nan])
def test_values_that_are_no_counts_are_refused(value):
    with pytest.raises(InputError, match="not a count"):
        weigh_counts(from_scipy(np.array([[1.0, value]])), sublinear=True)
