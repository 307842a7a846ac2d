import json
import re
from dataclasses import replace

import numpy as np
import pytest
from commands import ovaflow
from numpy.testing import assert_array_equal
from solving import make_memory_dataset

from ovaflow.cli import main
from ovaflow.dataset.dataset import Dataset, Names, open_dataset
from ovaflow.dataset.hold_out import hold_out
from ovaflow.evaluation import ranking
from ovaflow.evaluation.metric import get_metric
from ovaflow.evaluation.metrics import compute_ranking_metrics
from ovaflow.reading.instances import TextInstance
from ovaflow.settings.train import ChooseC, TrainLabels
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.shard_job import train_model
from ovaflow.tuning import comparison, cost, features
from ovaflow.tuning.comparison import Trial, compare_candidates, decide, divide_into_rounds
from ovaflow.tuning.cost import choose_C

CASES = [(2, 0.1, 1), (25, 0.1, 1), (3000, 0.1, 1), (10, 0.9, 1), (9000, 0.5, 1), (400, 0.2, 10)]


@pytest.mark.parametrize(("n", "share", "size"), CASES)
def test_folds_hold_out_each_instance_at_most_once_and_never_part_a_group(n, share, size) -> None:
    groups = np.random.default_rng(0).permutation(n) // size
    rounds = list(divide_into_rounds(groups, share))
    amount = max(1, round(share * n))
    together = np.concatenate([held for _, held in rounds])
    assert len(np.unique(together)) == len(together) == amount * len(rounds)
    for fit, held in rounds:
        assert not np.isin(groups[held], groups[fit]).any()
        assert n - amount - 2 * (size - 1) <= len(fit) <= n - amount
    assert len(together) >= 1200 or len(rounds) == 10 or len(together) + amount > n


def test_large_groups_are_held_out_no_more_often_than_they_occur() -> None:
    # near twins are numbered by their first rows, so that large groups have low numbers
    groups = np.concatenate([np.arange(200).repeat(10), np.arange(200, 2200)])
    [(fit, held), *_] = divide_into_rounds(groups, 0.1)
    assert abs(np.mean(groups[held] < 200) - 0.5) < 0.15
    assert len(fit) + len(held) > 3990


def test_contributions_add_up_to_the_metrics() -> None:
    rng = np.random.default_rng(0)
    Y = from_scipy((rng.random((200, 30)) < 0.1) * 1.0)
    ids = np.argsort(rng.random((200, 30)), axis=1)[:, :5].astype(np.int32)
    inverse = 1 + rng.random(30)
    theirs = compute_ranking_metrics(ids, Y, inverse)
    for metric in ("P@1", "P@5", "nDCG@3", "nDCG@5", "PSP@1", "PSP@5", "recall@3"):
        found, k = get_metric(metric)
        gains, best = found.per_instance(ranking.Ranked(ids, Y, inverse), k)
        assert gains.sum() / best.sum() == pytest.approx(theirs[metric], rel=1e-12)


def test_what_cannot_win_is_not_tried_again():
    rng = np.random.default_rng(0)
    tried = []
    strengths = {"bad": 0.1, "good": 0.6, "as good": 0.6}

    def attempt(candidate, part) -> Trial:
        tried.append((candidate, part))
        right = rng.random(400) < strengths[candidate]
        return Trial(right * 1.0, right, dict.fromkeys(comparison.COMPARED_METRICS, 0.5), 2.0)

    trials, best = compare_candidates([1, 2, 3], attempt, strengths)
    assert [part for candidate, part in tried if candidate == "bad"] == [1]
    assert [part for candidate, part in tried if candidate == "good"] == [1, 2, 3]
    assert best in ("good", "as good")
    found = {
        each["candidate"]: each for each in decide("nDCG@5", trials, best, "bad")["candidates"]
    }
    bad = found["bad"]
    chosen = found[best]
    theirs = np.mean(trials["bad"][0].scores) - np.mean(trials[best][0].scores)
    assert bad["difference"] == pytest.approx(theirs)
    assert (bad["held_out"], chosen["held_out"], chosen["seconds"]) == (400, 1200, 6.0)
    assert (chosen["difference"], chosen["error"]) == (0, 0)


def make_trial(scores, right=0) -> Trial:
    """A trial where the first label of so many instances is right."""
    first = np.arange(len(scores)) < right
    return Trial(
        np.asarray(scores, float),
        first,
        dict.fromkeys(comparison.COMPARED_METRICS, first.mean()),
        1.0,
    )


def test_the_default_stays_unless_another_is_surely_better() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(2000)
    noise = 0.2 * rng.standard_normal(2000)
    # of 10 changes for the worse the standard error is 0.0016, and P@1 may fall by 0.002
    for gain, right, expected in (
        (0.05, 1000, "new"),
        (0.05, 994, "new"),
        (0.05, 990, "old"),
        (0.001, 1200, "old"),
    ):
        better = make_trial(scores + noise - noise.mean() + gain, right)
        trials = {"old": [make_trial(scores, 1000)], "new": [better]}
        found = decide("nDCG@5", trials, "new", "old")
        assert (found["chosen"], found["default"]) == (expected, "old")
        assert "check" not in found
        assert decide("nDCG@5", trials, "old", "old")["chosen"] == "old"
        # rare labels are found at the cost of the first
        assert decide("PSP@5", trials, "new", "old")["chosen"] == ("new" if gain == 0.05 else "old")


def test_what_wins_on_a_part_is_checked_with_all() -> None:
    low = [make_trial([0.1, 0.2, 0.3])]
    high = [make_trial([0.5, 0.7, 0.6], 1)]
    part = {"old": low, "other": low, "new": high}
    tried = []
    for whole, expected in (({"old": low, "new": high}, "new"), ({"old": high, "new": low}, "old")):
        found = decide(
            "nDCG@5",
            part,
            "new",
            "old",
            lambda name, whole=whole: tried.append(name) or whole[name][0],
        )
        assert found["chosen"] == expected
        assert [each["candidate"] for each in found["check"]] == ["old", "new"]
        assert {each["candidate"]: each["difference"] for each in found["check"]}[expected] == 0
    assert tried == ["old", "new"] * 2
    # the default is not tried again
    assert (
        decide("nDCG@5", {"old": high, "new": low}, "old", "old", tried.append)["chosen"] == "old"
    )
    assert len(tried) == 4


def make_noisy_dataset(n=1000, d=300, n_labels=8, seed=0) -> Dataset:
    """Labels that depend on single features, with many wrong ones: the smaller C, the better."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.1) * 1.0
    truth = X[:, :n_labels] > 0
    Y = np.where(rng.random(truth.shape) < 0.4, rng.random(truth.shape) < 0.2, truth)
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)
    dataset = make_memory_dataset(np.hstack([X, np.ones((n, 1))]), Y * 1.0)
    return replace(
        dataset,
        test=dataset.train.take(np.arange(100)),
        names_in_memory=Names(list("abcdefgh"), []),
    )


def test_C_is_the_best_of_those_tried_and_no_test_instance_is_seen() -> None:
    dataset = make_noisy_dataset()
    settings = ChooseC(candidates=[0.01, 0.1, 1, 10, 100])
    found = choose_C(dataset, TrainLabels(), settings, 2)
    by_C = {each["candidate"]: each for each in found["candidates"]}
    # 10 is no better than 1, so that 100 is not tried
    assert list(by_C) == [0.01, 0.1, 1, 10]
    assert found["chosen"] == 0.1
    assert all(each["difference"] <= 0 for each in by_C.values())
    again = choose_C(replace(dataset, test=None), TrainLabels(), settings, 1)
    assert drop_times(again) == drop_times(found)
    fewer = choose_C(dataset, TrainLabels(), ChooseC(candidates=[0.1, 1], instances=100), 1)
    assert (fewer["instances"], found["instances"]) == (100, 1000)
    assert max(each["held_out"] for each in fewer["candidates"]) <= 100


@pytest.fixture
def recorded_groups(monkeypatch):
    """Groups of each choice of C or of features."""
    groups = []
    for module in (cost, features):
        monkeypatch.setattr(
            module,
            "divide_into_rounds",
            lambda each, share: groups.append(each) or divide_into_rounds(each, share),
        )
    return groups


def choose_features_of_table(folder, rows, *options) -> list[str]:
    """Choose features for a table; the options that name it."""
    (folder / "a.csv").write_text("\n".join(rows))
    table = [f"--train={folder}/a.csv", f"--test={folder}/a.csv", "--format=csv", *options]
    ovaflow("choose-features", table, "--candidates=words", f"--output={folder}/a.json")
    return table


def test_groups_are_held_out_together(tmp_path, recorded_groups) -> None:
    dataset = make_noisy_dataset(n=600)
    series = np.arange(600) % 20
    dataset = replace(dataset, train=replace(dataset.train, units=series))
    choose_C(dataset, TrainLabels(), ChooseC(candidates=[1.0]), 1)
    series = series[np.random.default_rng(0).permutation(600)]
    assert_array_equal(
        np.equal.outer(recorded_groups[0], recorded_groups[0]), np.equal.outer(series, series)
    )
    rows = [f"s{i % 20},x,word{i} more{i % 9}" for i in range(600)]
    choose_features_of_table(tmp_path, ["series,labels,text", *rows], "--group-column=series")
    assert set(np.unique(recorded_groups[1], return_counts=True)[1]) == {30}


def test_short_copies_are_held_out_together(tmp_path, recorded_groups) -> None:
    rows = [f"x,word{i % 100} more{i % 100}{'.' * (i // 100)}" for i in range(150)] + ["x,?"] * 20
    table = choose_features_of_table(tmp_path, ["labels,text", *rows])
    ovaflow("prepare", table, "--no-label-names", f"--output={tmp_path}/a.h5")
    choose_C(open_dataset(tmp_path / "a.h5"), TrainLabels(), ChooseC(candidates=[1.0]), 1)
    for each in recorded_groups:
        # two of 50, and one of 50 and of the 20 without a word; rare words are no features
        assert sorted(np.unique(each, return_counts=True)[1]) == [1] * 70 + [2] * 50


def train_and_measure(dataset, **settings) -> dict[str, float]:
    """Metrics of a model trained directly."""
    model = train_model(dataset, TrainLabels(**settings), 0.01)
    return compute_ranking_metrics(model.top_k(dataset.test.X, 5)[0], dataset.test.Y, np.ones(8))


def test_figures_of_a_choice_are_those_of_models_trained_directly() -> None:
    dataset = make_noisy_dataset(n=400)
    found = choose_C(dataset, TrainLabels(), ChooseC(candidates=[1.0, 3.0], held_out=0.25), 1)
    sample = np.random.default_rng(0).permutation(400)
    for each in found["candidates"]:
        directly = []
        sizes = []
        for fit, held in list(divide_into_rounds(np.arange(400), 0.25))[: each["rounds"]]:
            train, test = (dataset.train.take(np.sort(sample[part])) for part in (fit, held))
            part = replace(dataset, train=train, test=test)
            directly.append(train_and_measure(part, C=each["candidate"], epsilon=0.01)["P@1"])
            sizes.append(len(held))
        assert each["metrics"]["P@1"] == pytest.approx(
            np.average(directly, weights=sizes), abs=1e-12
        )


def test_C_chosen_on_a_part_is_checked_with_all_but_those_held_out(monkeypatch) -> None:
    dataset = make_noisy_dataset(n=3000)
    monkeypatch.setattr(
        comparison, "_choose_surely_better", lambda metric, trials, best, default: best
    )
    found = choose_C(
        dataset, TrainLabels(), ChooseC(candidates=[0.1, 1.0], instances=300, held_out=0.2), 1
    )
    assert (found["instances"], found["chosen"], found["default"]) == (300, 0.1, 1.0)
    parts = hold_out(dataset, 0.2)
    for each in found["check"]:
        theirs = train_and_measure(parts, C=each["candidate"])
        assert each["metrics"]["nDCG@5"] == pytest.approx(theirs["nDCG@5"], abs=1e-12)
        assert each["held_out"] == parts.test.X.n_rows
    whole = choose_C(dataset, TrainLabels(), ChooseC(candidates=[0.1, 1.0]), 1)
    assert "check" not in whole


def drop_times(found, entries="candidates") -> list[dict]:
    return [
        {name: value for name, value in each.items() if name != "seconds"}
        for each in found[entries]
    ]


ENDINGS = ["s", "ing", "ed", "er", "ers", "able", "ment", "ness", "ful", "less"]


def write_inflected_texts(folder, **sizes) -> list[str]:
    """Files whose subjects are told by the beginnings of words, of which most endings occur once,
    as options.
    """
    rng = np.random.default_rng(0)
    for part, rows in sizes.items():
        lines = []
        for number in range(rows):
            subject = rng.integers(12)
            letter = chr(97 + subject)
            (first, second, third) = rng.choice(ENDINGS, 3)
            words = (
                f"common{letter}{first}{second} noise{rng.integers(50)} {letter * 6}{third}{number}"
            )
            lines.append(f"subject{subject}\t{words} text{number}\n")
        (folder / f"{part}.tsv").write_text("".join(lines))
    return [f"--{part}={folder}/{part}.tsv" for part in sizes]


def run_choose_features(output, *options) -> dict:
    """The choice of features with some options, and what was said."""
    assert main(["choose-features", *options, "--format=text-tsv", f"--output={output}"]) == 0
    return json.loads(output.read_text())


def test_features_are_chosen_without_the_test_set_and_prepared(tmp_path, capsys) -> None:
    choice = tmp_path / "features.json"
    files = write_inflected_texts(tmp_path, train=400, test=50)
    found = run_choose_features(choice, *files)
    assert found["chosen"] == "words+prefixes=6"
    assert re.fullmatch(
        r"words\+prefixes=6  chosen, the default: .*", capsys.readouterr().out.splitlines()[-1]
    )
    (tmp_path / "test.tsv").write_text("subject1\tother\n")
    assert drop_times(run_choose_features(tmp_path / "again.json", *files)) == drop_times(found)
    fewer = run_choose_features(tmp_path / "fewer.json", *files, "--instances=100")
    assert (found["instances"], fewer["instances"]) == (400, 100)
    prepare = (
        "prepare",
        *files,
        "--format=text-tsv",
        "--features=auto",
        f"--output={tmp_path}/dataset.h5",
    )
    assert "--features=auto needs --chosen-features" in ovaflow(prepare, status=2)
    ovaflow(prepare, f"--chosen-features={choice}")
    dataset = open_dataset(tmp_path / "dataset.h5")
    assert dataset.parameters["features"] == ["words", "prefixes=6"]
    assert "aaaaaa*" in dataset.feature_names


@pytest.mark.parametrize(("cheap", "size"), [(301, 50), (300, 80)])
def test_features_are_compared_on_more_instances_of_a_large_dataset(
    tmp_path, monkeypatch, cheap, size
) -> None:
    for name, value in (("_LARGE_DATASET", cheap), ("_SMALL_SAMPLE", 50), ("_LARGE_SAMPLE", 80)):
        monkeypatch.setattr(features, name, value)
    files = write_inflected_texts(tmp_path, train=300, test=1)
    assert (
        run_choose_features(tmp_path / "a.json", *files, "--candidates=words")["instances"] == size
    )


def test_features_chosen_on_a_part_are_checked_with_all(tmp_path, capsys) -> None:
    files = write_inflected_texts(tmp_path, train=600, test=1)
    options = *files, "--candidates=words", "--candidates=prefixes=6", "--held-out=0.6"
    found = run_choose_features(tmp_path / "a.json", *options, "--instances=200")
    # words are the first candidate, so the default
    assert (found["default"], found["chosen"]) == ("words", "prefixes=6")
    assert [each["candidate"] for each in found["check"]] == ["words", "prefixes=6"]
    *_, said, first, second, last = capsys.readouterr().out.splitlines()
    assert said == "checked with all training instances:"
    assert first.startswith("words: nDCG@5")
    assert second.startswith("prefixes=6: nDCG@5")
    assert re.fullmatch(r"prefixes=6  chosen, nDCG@5 \+[\d.]+ ± [\d.]+ to the default, words", last)
    whole = run_choose_features(tmp_path / "b.json", *options, "--instances=600")
    assert drop_times(found, "check") == drop_times(whole)
    assert "check" not in whole


def test_texts_without_a_word_are_sampled_one_by_one() -> None:
    texts = [*(f"word{i} more" for i in range(300)), *["", " ", "?!", "2019", "\n", "."] * 50]
    for size in (60, 100):
        sample, available = features._sample_instances([TextInstance(text) for text in texts], size)
        assert available == 600
        without = [instance for instance in sample if not instance.text.startswith("word")]
        # hypergeometric: standard deviation at most 4.6
        assert abs(len(without) - size / 2) < 15


def test_instances_set_aside_for_testing_are_not_seen(tmp_path) -> None:
    train = write_inflected_texts(tmp_path, train=300)
    candidates = ["--candidates=words", "--candidates=words+pairs"]
    theirs = run_choose_features(tmp_path / "a.json", *train, *candidates)
    ovaflow("prepare", train, "--format=text-tsv", f"--output={tmp_path}/dataset.h5")
    aside = set(open_dataset(tmp_path / "dataset.h5").test_texts())
    assert len(aside) > 30
    lines = (tmp_path / "train.tsv").read_text().splitlines(True)
    (tmp_path / "train.tsv").write_text(
        "".join(line for line in lines if line.split("\t")[1].strip() not in aside)
    )
    ours = run_choose_features(tmp_path / "b.json", *train, *candidates)
    assert drop_times(ours) == drop_times(theirs)
    assert ours["instances"] == 300 - len(aside)


def test_features_are_not_chosen_for_features(tmp_path) -> None:
    (tmp_path / "train.txt").write_text("2 2 1\n0 0:1\n0 1:1\n")
    options = "--format=xmc-text", f"--train={tmp_path}/train.txt", f"--output={tmp_path}/out.json"
    assert "holds features, not texts" in ovaflow("choose-features", options, status=2)
