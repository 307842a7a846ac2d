"""Pipelines that are fitted in a notebook answer in commands and in the service."""

from itertools import chain

import numpy as np
import pytest
from commands import list_label_values, ovaflow, predict_answers
from estimators.corpus import GERMAN_TEXTS as TEXTS
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from ovaflow import FastXMLClassifier, OneVsAllClassifier, TextFeatures
from ovaflow.console.errors import InputError

BLOCKS = ["words", "pairs", {"prefixes": 4}, {"characters": [3, 4]}]
LABELS = []
for text in TEXTS:
    LABELS.append(["see"] if "See" in text else ["hügel", f"nummer {text[-1]}"])
NEW = ["Salzige See", "ein hoher Hügel und <b>Nummern3</b>", "Hügel", "unknown"]


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(TextFeatures(features=BLOCKS), OneVsAllClassifier()).fit(TEXTS, LABELS)


def test_a_saved_pipeline_reads_texts(pipeline, tmp_path) -> None:
    features, classifier = pipeline
    classifier.save(tmp_path / "model.h5", text_features=features)
    theirs, scores = classifier.predict_topk(features.transform(NEW), k=2)
    texts = [f"--text={text}" for text in NEW]
    ours = predict_answers(tmp_path / "model.h5", texts, "--top-k=2", "--output-format=jsonl")
    assert list_label_values(ours, "name") == theirs.tolist()
    our_scores = np.concatenate(list_label_values(ours, "score"))
    assert our_scores == pytest.approx(scores.ravel())
    assert "salzige" in ovaflow("explain", tmp_path / "model.h5", "--text", NEW[0])
    again = OneVsAllClassifier.load(tmp_path / "model.h5")
    assert again.predict_topk(features.transform(NEW), k=2)[0].tolist() == theirs.tolist()


def test_a_pipeline_comes_back_from_disk(pipeline, tmp_path) -> None:
    features, classifier = pipeline
    classifier.save(tmp_path / "model.h5", text_features=features)
    features.save(tmp_path / "features.h5")
    for file in ("model.h5", "features.h5"):
        again = make_pipeline(
            TextFeatures.load(tmp_path / file), OneVsAllClassifier.load(tmp_path / "model.h5")
        )
        ours = again[0].transform(NEW)
        theirs = features.transform(NEW)
        assert (ours != theirs).nnz == 0
        assert ours.dtype == theirs.dtype
        for labels, their_labels in zip(again.predict(NEW), pipeline.predict(NEW), strict=True):
            assert labels.tolist() == their_labels.tolist()
        scores = pipeline.decision_function(NEW)
        assert again.decision_function(NEW) == pytest.approx(scores, abs=1e-6)
        names = features.get_feature_names_out()
        assert again[0].get_feature_names_out().tolist() == names.tolist()
    # loaded features can be fitted again
    fitted_again = clone(TextFeatures.load(tmp_path / "features.h5")).fit(TEXTS)
    assert (fitted_again.transform(NEW) != theirs).nnz == 0
    classifier.save(tmp_path / "alone.h5")
    with pytest.raises(InputError, match="made from features, not from texts"):
        TextFeatures.load(tmp_path / "alone.h5")
    (tmp_path / "other.h5").write_text("no file of ovaflow")
    with pytest.raises(InputError, match="not a text-features file"):
        TextFeatures.load(tmp_path / "other.h5")


def test_features_of_another_classifier_are_refused(pipeline, tmp_path) -> None:
    others = TextFeatures(features="words").fit(TEXTS)
    with pytest.raises(ValueError, match="features, the classifier takes"):
        pipeline[-1].save(tmp_path / "model.h5", text_features=others)


def test_weights_and_bias_make_the_decision_function(pipeline) -> None:
    features, classifier = pipeline
    X = features.transform(TEXTS[:9])
    ours = (X @ classifier.coef_.T).toarray() + classifier.intercept_
    assert ours == pytest.approx(classifier.decision_function(X), abs=1e-5)
    without = OneVsAllClassifier(bias=0.0).fit(X, LABELS[:9])
    assert (X @ without.coef_.T).toarray() == pytest.approx(without.decision_function(X), abs=1e-5)
    assert not without.intercept_.any()


def test_explanations_sum_to_the_scores(pipeline) -> None:
    features, classifier = pipeline
    X = features.transform(NEW[:2])
    _, scores = classifier.predict_topk(X, k=2)
    ours = classifier.explain(X, k=2, words=3)
    for label, score in zip(chain.from_iterable(ours), scores.ravel(), strict=True):
        parts = [each["contribution"] for each in label["up"] + label["down"]]
        assert sum(parts) + label["bias"] + label["others"] == pytest.approx(score, abs=1e-5)
        assert max(len(label["up"]), len(label["down"])) <= 3


def test_labels_of_empty_texts_come_with_a_warning(pipeline) -> None:
    X = pipeline[0].transform(TEXTS)
    of_classes = OneVsAllClassifier().fit(X, [labels[0] for labels in LABELS])
    trees = FastXMLClassifier(trees=1).fit(X, LABELS)
    for model in (of_classes, pipeline[-1], trees):
        with pytest.warns(UserWarning, match="1 of 4 instances have no feature"):
            labels = model.predict(pipeline[0].transform(NEW))
        assert len(labels) == 4
