"""Advice: given where it applies, possible to follow, and with the figures that it promises."""

import html
import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from commands import ovaflow
from config_factory import make_config
from records import write_records

from ovaflow.cli import group
from ovaflow.cli.predict import open_predictor
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.evaluation.analysis import MissedCandidate
from ovaflow.prediction.predictions import Predictions
from ovaflow.prediction.question import Question
from ovaflow.report import advice
from ovaflow.report.data import summarize_dataset
from ovaflow.report.gather import DatasetResults, gather_results
from ovaflow.report.page import render_page
from ovaflow.report.quality import count_assigned_labels

WORDS = [f"word{number}" for number in range(60)]


@pytest.fixture(scope="module")
def results(finished) -> DatasetResults:
    return gather_results([finished.path / "msi"])[0]


def test_of_many_remarks_those_of_the_highest_priority_are_shown(monkeypatch) -> None:
    def advise_with(priority: float) -> Callable[[DatasetResults], advice.Advice]:
        return lambda results: advice.Advice(priority, "", "", "")

    functions = [advise_with(priority) for priority in (0.3, 0.01, 0.9, 0.1, 0.5, 0.2, 0.4)]
    functions.append(lambda results: None)
    monkeypatch.setattr(advice, "ADVICE_FUNCTIONS", functions)
    shown = advice.show_advice(SimpleNamespace(best=None))["advice"]
    assert [remark.priority for remark in shown] == [0.9, 0.5, 0.4, 0.3, 0.2]
    monkeypatch.setattr(advice, "ADVICE_FUNCTIONS", [])
    assert advice.show_advice(SimpleNamespace(best=None)) is None


def require_followable(found: advice.Advice) -> None:
    """Fail if a remedy is no valid setting, command or file."""
    if found.remedy.endswith(".json"):
        assert Path(found.remedy).is_file()
        return
    if found.remedy.startswith("ovaflow "):
        _, command, *_ = shlex.split(found.remedy)
        assert command in group.list_commands(None)
        return
    settings = yaml.safe_load(found.remedy)
    if "datasets" in settings:
        (entry,) = settings["datasets"].values()
        make_config(mine={"format": "csv", "train": "a.csv"} | entry)
    elif "runs" in settings:
        make_config(settings["runs"])
    else:
        make_config(**settings)


def test_every_remedy_on_the_page_can_be_followed(runs) -> None:
    (results,) = gather_results(runs)
    shown = advice.show_advice(results)["advice"]
    assert len(shown) > 2
    page = html.unescape(render_page([results]))
    for remark in shown:
        require_followable(remark)
        assert f"<code>{remark.remedy}</code>" in page


def test_a_long_command_is_shown_whole(results, monkeypatch) -> None:
    command = f"ovaflow errors results/tiny/msi --label='{'long name ' * 40}end'"
    remark = advice.Advice(1.0, "Something is wrong", command, "shows it")
    monkeypatch.setattr(advice, "ADVICE_FUNCTIONS", [lambda results: remark])
    assert f"<code>{command}</code>" in html.unescape(render_page([results]))


def make_results(
    folder: Path, name: str, records: list[dict], options: Sequence[str] = ()
) -> SimpleNamespace:
    """Prepare a table, and return its results without a trained run."""
    write_records(folder / f"{name}.csv", records)
    output = folder / f"{name}.h5"
    ovaflow(
        "prepare", "--format=csv", f"--train={folder}/{name}.csv", options, f"--output={output}"
    )
    opened = open_dataset(output)
    summary = summarize_dataset(name, opened)
    best = SimpleNamespace(
        relative_folder=str(folder),
        metrics=make_metrics(opened),
        read={}.get,
        choice_of_pruning={},
        reranked=True,
    )
    return SimpleNamespace(
        data=summary,
        assigned_labels=count_assigned_labels(opened.documents, summary.known),
        best=best,
        sweeps={},
    )


def make_metrics(dataset: Dataset) -> dict[str, Any]:
    """Make metrics with the number of test records that have a near twin."""
    twins = int(np.count_nonzero(dataset.test.twins))
    return {
        "instances": dataset.test.X.n_rows,
        "instances_with_near_twin": twins,
        "P@1": 0.5,
        "without_near_twins": {"P@1": 0.4},
    }


def make_records(n: int, make_label: Callable[[int], str], seed: int = 0) -> list[dict[str, str]]:
    """Make records of twelve random words, with the label of each number."""
    random = np.random.default_rng(seed)
    records = []
    for number in range(n):
        text = " ".join(random.choice(WORDS, 12))
        records.append({"text": text, "labels": make_label(number)})
    return records


def make_topic(number: int) -> str:
    return f"topic {number % 5}"


def make_rare_label(number: int) -> str:
    return f"rare {number}"


def test_labels_without_training_texts_and_further_texts_that_have_them(tmp_path) -> None:
    records = make_records(60, make_topic) + make_records(40, make_rare_label, seed=1)
    before = make_results(tmp_path, "before", records, ["--no-label-names"])
    found = advice.advise_on_unknown_labels(before)
    assert found.priority == before.assigned_labels.unknown / before.assigned_labels.labels > 0
    require_followable(found)
    more = [{"text": "more words", "labels": make_rare_label(number)} for number in range(40)]
    write_records(tmp_path / "more.csv", more)
    options = ["--no-label-names", f"--extra={tmp_path}/more.csv", "--extra-weight=1"]
    after = make_results(tmp_path, "after", records, options)
    assert advice.advise_on_unknown_labels(after) is None


def test_training_texts_without_labels_and_without_them(tmp_path) -> None:
    records = make_records(60, make_topic)
    for record in records[::3]:
        record["labels"] = ""
    before = make_results(tmp_path, "before", records)
    found = advice.advise_on_unlabelled_records(before)
    require_followable(found)
    assert found.priority == before.data.unlabelled / before.data.n_train > 0.2
    after = make_results(tmp_path, "after", records, ["--unlabelled=drop"])
    assert advice.advise_on_unlabelled_records(after) is None


def test_near_twins_and_a_split_that_keeps_them_together(tmp_path) -> None:
    records = make_records(60, make_topic)
    records += [record | {"text": record["text"] + " again"} for record in records]
    before = make_results(tmp_path, "before", records, ["--split=random"])
    found = advice.advise_on_near_duplicates(before)
    require_followable(found)
    assert found.priority == before.best.metrics["instances_with_near_twin"] / before.data.n_test
    after = make_results(tmp_path, "after", records, ["--split=together"])
    assert advice.advise_on_near_duplicates(after) is None


def test_near_twins_of_a_test_file_and_figures_without_them(tmp_path) -> None:
    records = make_records(60, make_topic)
    twins = [record | {"text": record["text"] + " again"} for record in records[:10]]
    write_records(tmp_path / "test.csv", twins + make_records(20, make_topic, seed=1))
    for name, options in (("before", []), ("together", ["--split=together"])):
        options = [f"--test={tmp_path}/test.csv", *options]
        results = make_results(tmp_path, name, records, options)
        (tmp_path / "metrics.json").write_text(json.dumps(results.best.metrics))
        found = advice.advise_on_near_duplicates(results)
        assert found.priority == 10 / 30
        # a split cannot part a test file from its near twins: the advice is to look elsewhere
        require_followable(found)
        figures = json.loads(Path(found.remedy).read_text())
        assert figures["without_near_twins"] == {"P@1": 0.4}


def test_longer_lists_and_less_probable_labels_find_what_is_promised(finished, results) -> None:
    dataset = open_dataset(finished["dataset"])
    true = dataset.test.Y.to_scipy().toarray() > 0
    ranking = Predictions.open(finished["predictions"]).ranking
    listed = 0
    for row, ids in enumerate(ranking.ids):
        listed += true[row, ids[:10]][ids[:10] >= 0].sum()
    outcomes = results.best.read(advice.read_outcomes)
    assert outcomes.in_first_ten == listed
    assert outcomes.true == true.sum()
    predictor = open_predictor(finished["model"])
    question = Question(min_probability=advice.LIKELY_PROBABILITY, top_k=50)
    suggested = 0
    found = 0
    answers = predictor.answer(dataset.test_texts(), question)
    for answer, row in zip(answers, true, strict=True):
        names = {label.name for label in answer.labels}
        suggested += len(names)
        found += len(names & {dataset.label_name(label) for label in row.nonzero()[0]})
    assert (outcomes.likely, outcomes.likely_true) == (suggested, found)


@pytest.mark.parametrize(("best", "further"), [(0, [0.25, 0.5]), (1, None), (2, [8.0, 16.0])])
def test_the_best_value_of_a_sweep_at_its_edge(best, further) -> None:
    runs = []
    for number, C in enumerate((1, 2, 4)):
        ndcg = 0.6 if number == best else 0.5
        runs.append(SimpleNamespace(settings={"C": f"{C}"}, metrics={"nDCG@5": ndcg}))
    found = advice.advise_on_sweep_range(
        SimpleNamespace(sweeps={"msi": SimpleNamespace(key="C", runs=runs)})
    )
    if further is None:
        assert found is None
        return
    require_followable(found)
    swept = yaml.safe_load(found.remedy)["runs"]["msi"]["sweep"]["C"]
    assert swept == sorted([1.0, 2.0, 4.0, *further])


@pytest.mark.parametrize(
    ("mean", "loss", "worst"),
    [(-0.003, "0.3", "0.5"), (0.0004, "0.0", "0.2"), (0.01, "0.0", "0.0")],
)
def test_a_model_that_would_be_much_smaller_at_hardly_a_loss(mean, loss, worst) -> None:
    sizes = {0.01: (100, 0.0), 0.05: (60, mean), 0.1: (40, -0.02)}
    points = []
    for prune, (size, change_of_metrics) in sizes.items():
        change = {name: {"mean": change_of_metrics, "error": 0.001} for name in ("nDCG@5", "PSP@5")}
        points.append({"prune": prune, "model_bytes": size, "change": change})
    best = SimpleNamespace(choice_of_pruning={"chosen": 0.01, "points": points})
    found = advice.advise_on_model_size(SimpleNamespace(best=best))
    require_followable(found)
    assert yaml.safe_load(found.remedy) == {"train": {"prune": 0.05}}
    assert (
        f"40.0 % smaller loses {loss} points of nDCG@5 or PSP@5 held out, at worst {worst}."
        in found.finding
    )
    best.choice_of_pruning["chosen"] = 0.05
    assert advice.advise_on_model_size(SimpleNamespace(best=best)) is None


def test_labels_that_are_missed_though_candidates_and_where(finished, results) -> None:
    most_missed = [MissedCandidate(label=0, missed=3, true=4)]
    outcomes = results.best.read(advice.read_outcomes)
    outcomes = outcomes._replace(true=10, most_missed=most_missed)
    best = SimpleNamespace(
        relative_folder=results.best.relative_folder,
        dataset=open_dataset(finished["dataset"]),
        read={advice.read_outcomes: outcomes}.get,
    )
    found = advice.advise_on_missed_labels(SimpleNamespace(best=best))
    assert found.priority == 0.3
    _, command, *words = shlex.split(found.remedy)
    assert "false negatives" in ovaflow(command, words)
