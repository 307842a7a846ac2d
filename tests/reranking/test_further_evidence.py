"""Evidence that not all texts need: pieces of the names' words, and what the first words say."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from commands import ovaflow
from scipy.special import expit
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.model.model_file import open_any_model
from ovaflow.model.top_k import NO_LABEL
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.reasons import explain_labels
from ovaflow.reranking import fitting
from ovaflow.reranking.candidates import Candidates
from ovaflow.reranking.choice_of_evidence import choose_evidence
from ovaflow.reranking.evidence import first_words, other_candidates
from ovaflow.reranking.evidence.candidate_evidence import CandidateEvidence
from ovaflow.reranking.evidence.first_words import FirstWords
from ovaflow.reranking.evidence.kind import EvidenceTraining
from ovaflow.reranking.evidence.kinds import KINDS, list_column_names
from ovaflow.reranking.evidence.name_pieces import PiecesOfName
from ovaflow.reranking.evidence.other_candidates import OtherCandidates
from ovaflow.reranking.held_out_candidates import HeldOutCandidates
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.suggestions import NO_SCORE
from ovaflow.sparse.csr import select_columns, select_rows

NAMES = "steam trains,train,dragons,old castles"
OPTIONAL = [kind.name for kind in KINDS if kind.optional]
TEXTS = [
    "the steamtrain and its train driver,train,train",
    "a castle for dragonflies and dragons,old castles,dragons",
    "trains without steam or diesel,train,steam trains",
]


@pytest.fixture
def words(tmp_path) -> Dataset:
    """A dataset of three texts with the names of four labels, whose features are words in several
    texts alone.
    """
    rows = []
    for line in TEXTS:
        text, first, second = line.split(",")
        rows.append(f"{text},{first}|{second}")
    (tmp_path / "records.csv").write_text("\n".join(["text,labels", *rows, *rows]) + "\n")
    (tmp_path / "test.csv").write_text("text,labels\nthe castles of steamtrains,train\n")
    ovaflow(
        "prepare",
        "--format=csv",
        f"--train={tmp_path}/records.csv",
        f"--test={tmp_path}/test.csv",
        "--label-separator=|",
        "--features=words",
        f"--output={tmp_path}/dataset.h5",
    )
    return open_dataset(tmp_path / "dataset.h5")


def fit_sklearn_pieces(words) -> tuple[np.ndarray, Callable[[list[str]], np.ndarray]]:
    """Compute the tf-idf of the names' pieces by scikit-learn, and make the function for texts."""
    names = [str(name) for name in words.label_names]
    documents = [line.split(",")[0] for line in TEXTS] * 2
    count = CountVectorizer(analyzer="char_wb", ngram_range=(4, 5)).fit(names)
    frequency = np.maximum((count.transform(documents) > 0).sum(axis=0), 1)
    idf = np.log(len(documents) / np.asarray(frequency).reshape(-1))

    def weigh(texts: list[str]) -> np.ndarray:
        return normalize(np.log1p(count.transform(texts).toarray()) * idf)

    return weigh(names), weigh


def test_pieces_of_names_are_those_of_scikit_learn(words) -> None:
    # a word that is no feature has pieces, too
    assert "steamtrains" not in words.feature_names
    names, weigh = fit_sklearn_pieces(words)
    pieces = PiecesOfName.fit(EvidenceTraining(words, words, (1.0, 0.0)))
    texts = pieces.make_features(words.test.tokens)
    candidates = np.arange(words.n_labels, dtype=np.int32)[None]
    theirs = weigh(["the castles of steamtrains"])
    ours = pieces.names.compare(texts, candidates)
    assert ours.cosine[0] == pytest.approx((theirs @ names.T)[0], abs=1e-6)
    assert ours.share[0] == pytest.approx(((theirs > 0) @ (names**2).T)[0], abs=1e-6)
    label = words.label_names.index("steam trains")
    assert (ours.share[0, label] > 0.5, ours.place[0, label]) == (True, 3)


@pytest.mark.parametrize(("words", "is_piece"), [("plain", False), ("symbols", True)])
def test_names_that_are_no_features_have_the_words_of_the_dataset(
    tmp_path, words, is_piece
) -> None:
    rows = ["text,labels", *["about dragons,dragons|F#", "about trains,trains"] * 3]
    (tmp_path / "records.csv").write_text("\n".join(rows) + "\n")
    files = f"--train={tmp_path}/records.csv", f"--output={tmp_path}/dataset.h5"
    ovaflow(
        "prepare",
        "--format=csv",
        "--split=random",
        "--label-separator=|",
        *files,
        f"--words={words}",
    )
    dataset = open_dataset(tmp_path / "dataset.h5")
    pieces = PiecesOfName.fit(EvidenceTraining(dataset, dataset, (1.0, 0.0)))
    assert ('" f# "' in list(pieces.pieces.lines)) == is_piece


@pytest.fixture(scope="module")
def model_with_all_kinds(folder, dataset, held, held_predictions, model, tmp_path_factory):
    """A model whose second stage has all kinds of evidence, whatever they are worth."""
    made = tmp_path_factory.mktemp("all") / "model.h5"
    made.write_bytes(model.read_bytes())
    unseen = open_any_model(folder / "held" / "model.h5")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "choose_evidence", lambda *texts: OPTIONAL)
        fitted = fitting.fit_reranker(
            open_any_model(made), dataset, held, held_predictions, held_out_model=unseen
        )
    fitted.write(made.with_name("reranker.h5"))
    return made


def test_kinds_that_tell_nothing_are_left_out() -> None:
    generator = np.random.default_rng(0)
    hits = generator.random((400, 10)) < 0.3
    informed = hits + generator.normal(0, 0.7, hits.shape)
    names = list_column_names(KINDS)
    columns = generator.normal(size=(400, 10, len(names)))
    columns[:, :, names.index("cosine of pieces")] = informed
    ids = np.tile(np.arange(10, dtype=np.int32), (400, 1))
    candidates = HeldOutCandidates(KINDS, columns.astype(np.float32), ids, hits, hits.sum(axis=1))
    assert choose_evidence(candidates, 1) == [PiecesOfName.name]
    kept = candidates.with_optional([PiecesOfName.name])
    for name in kept.column_names:
        ours = kept.evidence_values[:, :, kept.column_names.index(name)]
        assert np.array_equal(ours, columns[:, :, names.index(name)].astype(np.float32))
    left_out = set(names) - set(kept.column_names)
    theirs = set()
    for kind in KINDS:
        if kind.optional and kind is not PiecesOfName:
            theirs |= set(kind.column_names)
    assert left_out == theirs


def test_a_word_is_known_by_its_pieces_if_all_of_them_are_in_names(words) -> None:
    pieces = PiecesOfName.fit(EvidenceTraining(words, words, (1.0, 0.0)))
    asked = ["castles", "train", "trains", "steamtrain", "castle", "dragonfly", "ox"]
    assert [word for word in asked if pieces.knows_word(word)] == asked[:3]


def test_a_word_that_only_the_second_stage_knows_is_known(model_with_all_kinds) -> None:
    predictor = Predictor.open(model_with_all_kinds)
    others = ["" if "name1" in name else name for name in predictor.feature_names]
    predictor.transform = replace(predictor.transform, feature_names=others)
    known, unknown = predictor.answer(["name1", "name1name1"])
    assert (known.words, known.known_words, known.doubts) == (1, 1, [])
    assert (unknown.words, unknown.known_words, unknown.doubts) == (1, 0, ["unknown_words"])


def test_a_stored_second_stage_has_the_same_pieces(model_with_all_kinds, dataset) -> None:
    evidence = Predictor.open(model_with_all_kinds).model.reranker.evidence
    assert [kind.name for kind in evidence.kinds if kind.optional] == OPTIONAL
    stored = evidence.get(PiecesOfName)
    fresh = PiecesOfName.fit(EvidenceTraining(dataset, dataset, (1.0, 0.0)))
    assert stored.transform.feature_names == fresh.transform.feature_names
    assert np.array_equal(stored.transform.idf, fresh.transform.idf)
    ours = stored.names.names
    theirs = fresh.names.names
    assert np.array_equal(ours.data, theirs.data)
    assert np.array_equal(ours.indices, theirs.indices)
    assert np.array_equal(ours.indptr, theirs.indptr)


def test_a_text_has_the_same_pieces_however_it_comes(model_with_all_kinds, dataset) -> None:
    predictor = Predictor.open(model_with_all_kinds)
    ours = predictor.from_texts(dataset.test_texts()[:30])
    theirs = predictor.from_split(replace(dataset.test, X=dataset.test.X)).part(0, 30)
    assert ours.n_columns == theirs.n_columns > dataset.n_features
    assert ours.to_scipy().toarray() == pytest.approx(theirs.to_scipy().toarray(), abs=1e-6)
    with pytest.raises(ValueError, match="from_split make them"):
        predictor.top_k(dataset.test.X, 5)


def test_counts_of_words_have_the_pieces_of_these(model_with_all_kinds, dataset) -> None:
    predictor = Predictor.open(model_with_all_kinds)
    words = [name for name in predictor.feature_names if name.isalnum()][:3]
    ours = predictor.from_features([{words[0]: 2, words[1]: 1}, {words[2]: 1}])
    theirs = predictor.from_texts([f"{words[0]} {words[1]} {words[0]}", words[2]])
    our_pieces = select_columns(ours, dataset.n_features, ours.n_columns).to_scipy().toarray()
    their_pieces = select_columns(theirs, dataset.n_features, ours.n_columns).to_scipy().toarray()
    assert our_pieces == pytest.approx(their_pieces)
    assert our_pieces.any()


def test_first_words_are_those_of_a_shorter_text(model, dataset, monkeypatch) -> None:
    monkeypatch.setattr(first_words, "N_FIRST_WORDS", 5)
    alone = open_any_model(model)
    texts = [text.split() for text in dataset.test_texts()]
    # a word that comes again later counts as often as in the whole text
    rows = [row for row, words in enumerate(texts) if len(set(words)) == len(words)]
    assert len(rows) > 50
    texts = [" ".join(texts[row][:5]) for row in rows]
    ids, theirs = alone.top_k(Predictor(alone).from_texts(texts), 10)
    ids[:, 9] = NO_LABEL
    evidence = CandidateEvidence([FirstWords()], dataset.n_text_features)
    found = evidence.prepare_texts(select_rows(dataset.test.X, rows), alone)
    scores, places = FirstWords().compute(Candidates(found, ids, theirs, np.arange(10)))
    assert scores[:, :9] == pytest.approx(theirs[:, :9], abs=1e-5)
    assert np.all(scores[:, 9] == NO_SCORE)
    apart = np.all(np.diff(theirs) < -1e-5, axis=1)
    assert np.all(places[apart] == np.arange(10))


def test_evidence_that_is_not_asked_for_is_not_there(dataset) -> None:
    evidence = CandidateEvidence.fit(EvidenceTraining(dataset, dataset, (1.0, 0.0)))
    names = [kind.name for kind in evidence.kinds]
    assert PiecesOfName.name in names
    assert FirstWords.name not in names
    plain = evidence.with_optional([FirstWords.name])
    assert plain.with_own_features(dataset.test.X, dataset.test.tokens) is dataset.test.X


@pytest.fixture
def ranked_evidence(monkeypatch) -> list[tuple[np.ndarray, np.ndarray]]:
    """The evidence that trees have ranked, and the labels it is about, call by call."""
    calls = []
    rank = Reranker.rank

    def record(self, evidence, ids, complete):
        calls.append((evidence, ids))
        return rank(self, evidence, ids, complete)

    monkeypatch.setattr(Reranker, "rank", record)
    return calls


@pytest.mark.parametrize("offered", [None, np.arange(60) % 3 == 0], ids=["all", "a third"])
@pytest.mark.parametrize("n_labels", [20, 58])
def test_probabilities_and_reasons_are_those_of_predictions(
    model_with_all_kinds, dataset, ranked_evidence, monkeypatch, n_labels, offered
) -> None:
    # all other candidates that support a label are named
    monkeypatch.setattr(other_candidates, "MAX_NAMED_CANDIDATES", other_candidates.N_SUPPORTING)
    monkeypatch.setattr(other_candidates, "MIN_NAMED_SUPPORT", 1e-9)
    predictor = Predictor.open(model_with_all_kinds)
    if offered is not None:
        predictor = predictor.offering(np.resize(offered, predictor.n_labels))
    kinds = predictor.model.evidence
    cooccurrence = kinds.get(OtherCandidates).cooccurrence.to_scipy().toarray()
    slope, intercept = kinds.get(OtherCandidates).likelihood
    mentioned = set()
    for text in dataset.test_texts()[:10]:
        x = predictor.from_texts([text])
        [answer] = predictor.answer(x, top_k=n_labels)
        [evidence], [ids] = ranked_evidence[-1]
        rows = dict(zip(ids.tolist(), evidence, strict=True))
        labels = [label.id for label in answer.labels]
        explained = explain_labels(predictor, x, labels, None, text)
        for entry, theirs in zip(explained, answer.labels, strict=True):
            assert (entry.id, entry.probability) == (theirs.id, theirs.probability)
            contributions = [each.contribution for each in (*entry.up, *entry.down)]
            assert entry.score == pytest.approx(entry.bias + entry.others + sum(contributions))
            columns = dict(zip(kinds.column_names, rows[entry.id].tolist(), strict=True))
            if columns["score"] != NO_SCORE:
                assert entry.score == pytest.approx(columns["score"], abs=1e-4)
            reasons = {reason.kind: reason for reason in entry.evidence}
            mentioned |= reasons.keys()
            place = columns["rank by the first words"] + 1
            if FirstWords.name in reasons:
                assert reasons[FirstWords.name].place == place
            else:
                assert place > first_words.MAX_REPORTED_PLACES
            support = 0
            if OtherCandidates.name in reasons:
                for other in reasons[OtherCandidates.name].labels:
                    likelihood = expit(slope * rows[other][0] + intercept)
                    support += likelihood * cooccurrence[other, entry.id]
            assert support == pytest.approx(columns["company"], abs=1e-5)
    assert {FirstWords.name, OtherCandidates.name, "similar texts"} <= mentioned
    assert mentioned & {PiecesOfName.name, "name in the text"}


def test_a_text_alone_is_ranked_as_in_a_batch(model_with_all_kinds, dataset) -> None:
    predictor = Predictor.open(model_with_all_kinds)
    ids, scores = predictor.top_k(predictor.from_split(dataset.test), 5)
    for i, text in enumerate(dataset.test_texts()[:20]):
        assert np.array_equal(
            predictor.top_k(predictor.from_texts([text]), 5), [ids[i : i + 1], scores[i : i + 1]]
        )
