import json
from dataclasses import replace

import numpy as np
import pytest

from ovaflow.cli import main
from ovaflow.data.dataset import Dataset, Names, Split, open_dataset
from ovaflow.evaluation import ranking
from ovaflow.evaluation.metrics import ranking_metrics
from ovaflow.reading.instances import TextInstance
from ovaflow.settings.train import ChooseC, TrainLabels
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.shard_job import train_model
from ovaflow.tuning import comparison, cost, features
from ovaflow.tuning.comparison import Trial, compare, folds, summary
from ovaflow.tuning.cost import choose_C


@pytest.mark.parametrize(("n", "held_out"), [(2, 0.1), (25, 0.1), (3000, 0.1), (10, 0.9), (9000, 0.5)])
def test_folds_hold_out_each_instance_at_most_once(n, held_out):
    rounds = list(folds(np.arange(n), held_out))
    together = np.concatenate([held for _, held in rounds])
    assert len(np.unique(together)) == len(together)
    for fit, held in rounds:
        assert sorted([*fit, *held]) == list(range(n))
        assert len(held) == max(1, round(held_out * n))
    assert len(together) >= 600 or len(rounds) == 10 or len(together) + len(rounds[0][1]) > n


def test_folds_never_part_a_group():
    groups = np.sort(np.random.default_rng(0).integers(0, 40, 400))[np.random.default_rng(1).permutation(400)]
    rounds = list(folds(groups, 0.2))
    assert len(rounds) == 5
    for fit, held in rounds:
        assert not np.isin(groups[held], groups[fit]).any()
        assert len(held) == 80
        assert len(fit) > 290
    assert len(np.unique(np.concatenate([held for _, held in rounds]))) == 400


def test_contributions_add_up_to_the_metrics():
    rng = np.random.default_rng(0)
    Y = from_scipy((rng.random((200, 30)) < 0.1) * 1.0)
    ids, inverse = np.argsort(rng.random((200, 30)), axis=1)[:, :5].astype(np.int32), 1 + rng.random(30)
    theirs = ranking_metrics(ids, Y, inverse)
    hits = ranking.find_hits(ids, Y)
    for metric in ("P@1", "P@5", "nDCG@3", "nDCG@5", "PSP@1", "PSP@5", "recall@3"):
        gains, best = ranking.contributions(metric, ids, hits, Y, inverse)
        assert gains.sum() / best.sum() == pytest.approx(theirs[metric], rel=1e-12)


def test_what_cannot_win_is_not_tried_again():
    rng, tried = np.random.default_rng(0), []
    strengths = {"bad": 0.1, "good": 0.6, "as good": 0.6}

    def attempt(candidate, part):
        tried.append((candidate, part))
        return Trial((rng.random(400) < strengths[candidate]) * 1.0, dict.fromkeys(comparison.METRICS, 0.5), 2.0)

    trials, best = compare([1, 2, 3], attempt, strengths)
    assert [part for candidate, part in tried if candidate == "bad"] == [1]
    assert [part for candidate, part in tried if candidate == "good"] == [1, 2, 3]
    assert best in ("good", "as good")
    found = summary(trials, best)
    bad, chosen = (next(each for each in found["candidates"] if each["candidate"] == name) for name in ("bad", best))
    theirs = np.mean(trials["bad"][0].scores) - np.mean(trials[best][0].scores)
    assert bad["difference"] == pytest.approx(theirs)
    assert (bad["held_out"], chosen["held_out"], chosen["seconds"]) == (400, 1200, 6.0)
    assert (chosen["difference"], chosen["error"]) == (0, 0)


def noisy_dataset(n=600, d=40, n_labels=8, seed=0):
    """Labels that depend on single features, with many wrong ones: the smaller C, the better."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.3) * 1.0
    truth = X[:, :n_labels] > 0
    Y = np.where(rng.random(truth.shape) < 0.25, rng.random(truth.shape) < 0.2, truth)
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)
    X, Y = from_scipy(np.hstack([X, np.ones((n, 1))])), from_scipy(Y * 1.0)
    split = Split(X, Y)
    parameters = {"bias": 1.0, "normalize": False}
    return Dataset("noisy", split, split.take(np.arange(100)), "", parameters, Names(list("abcdefgh"), []))


def test_C_is_the_best_of_those_tried_and_no_test_instance_is_seen(monkeypatch):
    dataset = noisy_dataset()
    found = choose_C(dataset, TrainLabels(), ChooseC(candidates=[0.01, 0.1, 1, 10, 100]), 2)
    by_C = {each["candidate"]: each for each in found["candidates"]}
    # 10 is no better than 1, so that 100 is not tried
    assert list(by_C) == [0.01, 0.1, 1, 10]
    assert found["chosen"] == 0.1
    assert all(each["difference"] <= 0 for each in by_C.values())
    without = replace(dataset, test=None)
    again = choose_C(without, TrainLabels(), ChooseC(candidates=[0.01, 0.1, 1, 10, 100]), 1)
    assert timeless(again) == timeless(found)
    fewer = choose_C(dataset, TrainLabels(), ChooseC(candidates=[0.1, 1], instances=100), 1)
    assert (fewer["instances"], found["instances"]) == (100, 600)
    assert max(each["held_out"] for each in fewer["candidates"]) <= 100


def test_groups_are_held_out_together(tmp_path, monkeypatch):
    groups = []
    for module in (cost, features):
        monkeypatch.setattr(module, "folds", lambda each, share: groups.append(each) or folds(each, share))
    dataset, series = noisy_dataset(), np.arange(600) % 20
    dataset = replace(dataset, train=replace(dataset.train, groups=series))
    choose_C(dataset, TrainLabels(), ChooseC(candidates=[1.0]), 1)
    series = series[np.random.default_rng(0).permutation(600)]
    np.testing.assert_array_equal(np.equal.outer(groups[0], groups[0]), np.equal.outer(series, series))
    rows = [f"s{i % 20},x,word{i} more{i % 9}" for i in range(600)]
    (tmp_path / "a.csv").write_text("\n".join(["series,labels,text", *rows]))
    options = [f"--train={tmp_path / 'a.csv'}", "--format=csv", "--group-column=series"]
    options += ["--candidates=words", f"--output={tmp_path / 'a.json'}"]
    assert main(["choose-features", *options]) == 0
    sizes = np.unique(groups[1], return_counts=True)[1]
    assert set(sizes) == {30}


def test_short_copies_are_held_out_together(tmp_path, monkeypatch):
    groups = []
    for module in (cost, features):
        monkeypatch.setattr(module, "folds", lambda each, share: groups.append(each) or folds(each, share))
    rows = [f"x,word{i % 100} more{i % 100}{'.' * (i // 100)}" for i in range(150)] + ["x,?"] * 20
    (tmp_path / "a.csv").write_text("\n".join(["labels,text", *rows]))
    table = [f"--train={tmp_path / 'a.csv'}", f"--test={tmp_path / 'a.csv'}", "--format=csv"]
    assert main(["choose-features", *table, "--candidates=words", f"--output={tmp_path / 'a.json'}"]) == 0
    assert main(["prepare", *table, "--no-label-names", f"--output={tmp_path / 'a.h5'}"]) == 0
    choose_C(open_dataset(tmp_path / "a.h5"), TrainLabels(), ChooseC(candidates=[1.0]), 1)
    for each in groups:
        # two of 50, and one of 50 and of the 20 without a word; rare words are no features
        assert sorted(np.unique(each, return_counts=True)[1]) == [1] * 70 + [2] * 50


def test_figures_of_a_choice_are_those_of_models_trained_directly():
    dataset = noisy_dataset(n=400)
    found = choose_C(dataset, TrainLabels(), ChooseC(candidates=[1.0, 3.0], held_out=0.25), 1)
    sample = np.random.default_rng(0).permutation(400)
    for each in found["candidates"]:
        directly, sizes = [], []
        for fit, held in list(folds(np.arange(400), 0.25))[: each["rounds"]]:
            train, test = (dataset.train.take(np.sort(sample[part])) for part in (fit, held))
            part = replace(dataset, train=train, test=test)
            model = train_model(part, TrainLabels(C=each["candidate"], epsilon=0.01), 0.01)
            directly.append(ranking_metrics(model.top_k(test.X, 5)[0], test.Y, np.ones(8))["P@1"])
            sizes.append(test.Y.n_rows)
        assert each["metrics"]["P@1"] == pytest.approx(np.average(directly, weights=sizes), abs=1e-12)


def timeless(found):
    return [{name: value for name, value in each.items() if name != "seconds"} for each in found["candidates"]]


ENDINGS = ["s", "ing", "ed", "er", "ers", "able", "ment", "ness", "ful", "less"]


def write_inflected(path, rows, seed):
    """Subjects are told by the beginnings of words, of which most endings occur once."""
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(rows):
        subject = rng.integers(12)
        words = [f"common{chr(97 + subject)}{rng.choice(ENDINGS)}{rng.choice(ENDINGS)}", f"noise{rng.integers(50)}"]
        stems = [f"{chr(97 + subject) * 6}{rng.choice(ENDINGS)}{number}"]
        lines.append(f"subject{subject}\t{' '.join([*words, *stems])} text{number}\n")
    path.write_text("".join(lines))
    return path


def test_features_are_chosen_without_the_test_set_and_prepared(tmp_path, capsys):
    train, test = write_inflected(tmp_path / "train.tsv", 400, 0), write_inflected(tmp_path / "test.tsv", 50, 1)
    chosen, dataset = tmp_path / "features.json", tmp_path / "dataset.h5"
    files = [f"--train={train}", f"--test={test}", "--format=text-tsv"]
    assert main(["choose-features", *files, f"--output={chosen}"]) == 0
    found = json.loads(chosen.read_text())
    assert found["chosen"] == "words+prefixes=6"
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("words+prefixes=6: nDCG@5")
    assert last.endswith("  chosen")
    test.write_text("subject1\tother\n")
    assert main(["choose-features", *files, f"--output={tmp_path / 'again.json'}"]) == 0
    assert timeless(json.loads((tmp_path / "again.json").read_text())) == timeless(found)
    assert main(["choose-features", *files, "--instances=100", f"--output={tmp_path / 'fewer.json'}"]) == 0
    assert (found["instances"], json.loads((tmp_path / "fewer.json").read_text())["instances"]) == (400, 100)
    assert main(["prepare", *files, "--features=auto", f"--output={dataset}"]) == 2
    assert "--features=auto needs --chosen-features" in capsys.readouterr().err
    options = ["--features=auto", f"--chosen-features={chosen}"]
    assert main(["prepare", *files, *options, f"--output={dataset}"]) == 0
    assert open_dataset(dataset).parameters["features"] == ["words", "prefixes=6"]
    assert "aaaaaa*" in open_dataset(dataset).feature_names


@pytest.mark.parametrize(("cheap", "size"), [(301, 50), (300, 80)])
def test_features_are_compared_on_more_instances_of_a_large_dataset(tmp_path, monkeypatch, cheap, size):
    for name, value in (("_CHEAP", cheap), ("_FEW", 50), ("_MANY", 80)):
        monkeypatch.setattr(features, name, value)
    train, chosen = write_inflected(tmp_path / "train.tsv", 300, 0), tmp_path / "features.json"
    files = [f"--train={train}", f"--test={train}", "--format=text-tsv", f"--output={chosen}"]
    assert main(["choose-features", *files, "--candidates=words"]) == 0
    assert json.loads(chosen.read_text())["instances"] == size


def test_texts_without_a_word_are_sampled_one_by_one():
    texts = [*(f"word{i} more" for i in range(300)), *["", " ", "?!", "2019", "\n", "."] * 50]
    for size in (60, 100):
        sample = features._sample_of(map(TextInstance, texts), size)
        without = [instance for instance in sample if not instance.text.startswith("word")]
        # hypergeometric: standard deviation at most 4.6
        assert abs(len(without) - size / 2) < 15


def test_instances_set_aside_for_testing_are_not_seen(tmp_path):
    whole = write_inflected(tmp_path / "whole.tsv", 300, 0)
    options = ["--format=text-tsv", "--candidates=words", "--candidates=words+pairs"]
    assert main(["choose-features", f"--train={whole}", *options, f"--output={tmp_path / 'whole.json'}"]) == 0
    assert main(["prepare", f"--train={whole}", "--format=text-tsv", f"--output={tmp_path / 'dataset.h5'}"]) == 0
    aside = set(open_dataset(tmp_path / "dataset.h5").test_texts())
    assert len(aside) > 30
    kept = tmp_path / "kept.tsv"
    lines = whole.read_text().splitlines(keepends=True)
    kept.write_text("".join(line for line in lines if line.split("\t")[1].strip() not in aside))
    assert main(["choose-features", f"--train={kept}", *options, f"--output={tmp_path / 'kept.json'}"]) == 0
    ours, theirs = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("whole", "kept"))
    assert timeless(ours) == timeless(theirs)
    assert ours["instances"] == 300 - len(aside)


def test_features_are_not_chosen_for_features(tmp_path, capsys):
    (tmp_path / "train.txt").write_text("2 2 1\n0 0:1\n0 1:1\n")
    options = ["--format=xmc-text", f"--train={tmp_path / 'train.txt'}", f"--output={tmp_path / 'out.json'}"]
    assert main(["choose-features", *options]) == 2
    assert "holds features, not texts" in capsys.readouterr().err
