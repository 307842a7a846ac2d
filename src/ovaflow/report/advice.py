"""The section What to do next: settings and commands that would improve the best run."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from ovaflow.dataset.remarks import are_twins_notable
from ovaflow.evaluation.analysis import LIKELY_PROBABILITY
from ovaflow.report import doubts, wording
from ovaflow.report.second_stage import read_outcomes
from ovaflow.report.section import ReportSection
from ovaflow.results.best_run import choose_comparison_metric

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.report.sweeps import SweptRuns

MAX_REMARKS = 5
"""Remarks that are shown, those of the highest priority first."""

MIN_PRIORITY = 0.02
"""Remarks of a lower priority are not shown."""

_MIN_SIZE_REDUCTION = 0.3
"""A smaller model is worth a remark if it has at least this share of bytes less."""

_MAX_QUALITY_LOSS = 0.005
"""A smaller model is worth a remark if no metric falls by more than this."""

_MIN_MEMORY_EFFECT = 0.005
"""Near twins are worth a remark if P@1 is lower by at least this without them."""

_SIZE_WEIGHT = 0.1
"""Factor of the share of bytes in a priority: a byte counts less than a label."""

_PROBABILITIES_PRIORITY = 0.5
"""Priority of the remark on missing probabilities: before most remarks on labels."""


class Advice(NamedTuple):
    """A finding and a remedy, which the page shows as ``finding remedy effect.``"""

    # share of the labels, instances or bytes that it is about, weighted; the highest is shown first
    priority: float
    finding: str  # a sentence with its full stop
    # a setting in the syntax of a config file, a command, or a file to read; shown whole
    remedy: str
    effect: str  # what the remedy does, such as "lists them"


def show_advice(results: DatasetResults) -> dict[str, Any] | None:
    """Show the remarks of the highest priority; None without any."""
    remarks = []
    for advise in ADVICE_FUNCTIONS:
        advice = advise(results)
        if advice is not None and advice.priority >= MIN_PRIORITY:
            remarks.append(advice)
    if not remarks:
        return None
    remarks.sort(key=lambda advice: -advice.priority)
    return {"advice": remarks[:MAX_REMARKS], "run": results.best}


def advise_on_unknown_labels(results: DatasetResults) -> Advice | None:
    """Advise more training texts where labels of test instances occur in none."""
    test = results.assigned_labels
    if not test.unknown:
        return None
    noun = results.data.noun
    share = test.unknown / test.labels
    finding = (
        f"{_percent(share)} of the labels that people assigned to test {noun} "
        f"({test.unknown:,} of {test.labels:,}) have no training {noun[:-1]}: they are never "
        "suggested."
    )
    if test.without_known_label:
        finding += (
            f" {test.without_known_label:,} of {test.instances:,} {noun} have only such labels, "
            "or none."
        )
    files = "extra: {more.csv: 1}" if noun == "texts" else "train: more.txt"
    remedy = f"datasets: {{{results.data.name}: {{{files}}}}}"
    return Advice(share, finding, remedy, f"adds training {noun} that have them")


def advise_on_missing_candidates(results: DatasetResults) -> Advice | None:
    """Advise other features where true labels are no candidates of the second stage."""
    outcomes = results.best.read(read_outcomes)
    if outcomes is None or results.data.noun != "texts":
        return None
    # no features bring labels that no training text has
    share = (outcomes.no_candidates - results.assigned_labels.unseen) / outcomes.true
    finding = (
        f"{_percent(share)} of the true labels are missed because they are not among the "
        "candidates of their text."
    )
    effect = "looks for features that bring more of them, on held-out texts"
    return Advice(share, finding, "prepare: {features: auto}", effect)


def advise_on_low_ranks(results: DatasetResults) -> Advice | None:
    """Advise a longer list where true labels are candidates after the fifth."""
    outcomes = results.best.read(read_outcomes)
    if outcomes is None or results.best.metrics.get("top_k", 10) >= 10:
        return None
    share = outcomes.ranked_low / outcomes.true
    finding = f"{_percent(share)} of the true labels are candidates, but ranked after the fifth."
    effect = (
        f"shows {_percent(outcomes.in_first_ten / outcomes.true)} of the true labels to people "
        f"who choose from a list, instead of {_percent(outcomes.in_first_five / outcomes.true)}"
    )
    return Advice(share, finding, "predict: {top_k: 10}", effect)


def advise_on_improbable_labels(results: DatasetResults) -> Advice | None:
    """Advise a lower probability where true labels are among the first five, but do not fit."""
    outcomes = results.best.read(read_outcomes)
    if outcomes is None or not outcomes.likely:
        return None
    share = outcomes.unfitting / outcomes.true
    finding = (
        f"{_percent(share)} of the true labels are among the first five of their text, but not "
        "probable enough to be among those that fit."
    )
    model = shlex.quote(f"{results.best.relative_folder}/model.h5")
    remedy = f"ovaflow predict {model} FILE --min-probability {LIKELY_PROBABILITY:g}"
    effect = (
        f"suggests {_percent(outcomes.likely_true / outcomes.true)} of the true labels instead of "
        f"{_percent(outcomes.found_share)}; {_percent(outcomes.likely_true / outcomes.likely)} of "
        "what it suggests is right"
    )
    return Advice(share, finding, remedy, effect)


def advise_on_missed_labels(results: DatasetResults) -> Advice | None:
    """Advise a look at the labels that are missed most often though they are candidates."""
    outcomes = results.best.read(read_outcomes)
    if outcomes is None or not outcomes.most_missed:
        return None
    n_missed = 0
    names = []
    for label in outcomes.most_missed:
        n_missed += label.missed
        name = wording.plain(results.best.dataset.label_name(label.label), 60)
        names.append(f"{name} ({label.missed:,} of {label.true:,})")
    worst = results.best.dataset.label_name(outcomes.most_missed[0].label)
    remedy = shlex.join(["ovaflow", "errors", results.best.relative_folder, f"--label={worst}"])
    finding = f"Missed most often, though candidates: {', '.join(names)}."
    effect = "shows where, and which words spoke against it"
    return Advice(n_missed / outcomes.true, finding, remedy, effect)


def advise_on_near_duplicates(results: DatasetResults) -> Advice | None:
    """Advise a split without near twins where those in the test set make the metrics better."""
    metrics = results.best.metrics
    n_instances = metrics.get("instances", 0)
    n_twins = metrics.get("instances_with_near_twin", 0)
    if not are_twins_notable(n_twins, n_instances) or n_twins == n_instances:
        return None
    with_twins = metrics["P@1"]
    without_twins = metrics["without_near_twins"]["P@1"]
    if with_twins - without_twins < _MIN_MEMORY_EFFECT:
        return None
    share = n_twins / n_instances
    finding = (
        f"{_percent(share)} of the test {results.data.noun} have a near twin in training, such as "
        "another edition, so the metrics overstate the quality on new texts: P@1 of the others is "
        f"{_percent(without_twins)} instead of {_percent(with_twins)}."
    )
    if results.data.has_given_test_set:
        remedy = f"{results.best.relative_folder}/metrics.json"
        return Advice(share, finding, remedy, "has metrics without them under without_near_twins")
    effect = "keeps near twins on one side, if no split_column divides the records"
    return Advice(share, finding, "prepare: {split: together}", effect)


def advise_on_model_size(results: DatasetResults) -> Advice | None:
    """Advise a larger threshold where the model would be much smaller and hardly worse."""
    choice = results.best.choice_of_pruning
    if not choice:
        return None
    [chosen] = [point for point in choice["points"] if point["prune"] == choice["chosen"]]
    # the largest threshold first
    for point in reversed(choice["points"]):
        losses = []
        worst_losses = []
        for name in ("nDCG@5", "PSP@5"):
            change = point["change"][name]
            difference = chosen["change"][name]["mean"] - change["mean"]
            losses.append(difference)
            worst_losses.append(difference + 2 * change["error"])
        reduction = 1 - point["model_bytes"] / chosen["model_bytes"]
        if reduction < _MIN_SIZE_REDUCTION or max(losses) > _MAX_QUALITY_LOSS:
            continue
        # a smaller model may also be better
        loss = max(0, *losses)
        worst_loss = max(0, *worst_losses)
        finding = (
            f"A model {_percent(reduction)} smaller loses {wording.short_percent(loss)} points of "
            f"nDCG@5 or PSP@5 held out, at worst {wording.short_percent(worst_loss)}."
        )
        remedy = f"train: {{prune: {point['prune']:g}}}"
        effect = "drops these weights; nothing is trained again"
        return Advice(_SIZE_WEIGHT * reduction, finding, remedy, effect)
    return None


def advise_on_sweep_range(results: DatasetResults) -> Advice | None:
    """Advise further values where the best one of a sweep is its largest or smallest."""
    for name, sweep in results.sweeps.items():
        if sweep.key != "seed" and len(sweep.runs) > 1:
            advice = _advise_on_range(name, sweep)
            if advice is not None:
                return advice
    return None


def _advise_on_range(name: str, sweep: SweptRuns) -> Advice | None:
    metric = choose_comparison_metric(sweep.runs)
    if metric is None:
        return None
    best = max(sweep.runs, key=lambda run: run.metrics[metric])
    best_C = float(best.settings["C"])
    values = [float(run.settings["C"]) for run in sweep.runs]
    if best_C == values[0]:
        position = "smallest"
        further = [best_C / 4, best_C / 2]
    elif best_C == values[-1]:
        position = "largest"
        further = [2 * best_C, 4 * best_C]
    else:
        return None
    listed = ", ".join(f"{value:g}" for value in sorted({*values, *further}))
    finding = f"The best {metric} of the sweep {name} is that of its {position} C, {best_C:g}."
    remedy = f"runs: {{{name}: {{sweep: {{C: [{listed}]}}}}}}"
    return Advice(1.0, finding, remedy, "tries values beyond it")


def advise_on_second_stage(results: DatasetResults) -> Advice | None:
    """Advise a second stage where the best run has none."""
    if results.best.reranked or results.best.settings["rerank"] != "0":
        return None
    finding = f"{results.best.name} gives no probabilities, and does not know how many labels fit."
    effect = "fits a second stage, which ranks the candidates and gives them probabilities"
    return Advice(_PROBABILITIES_PRIORITY, finding, "predict: {rerank: 0.2}", effect)


def advise_on_label_errors(results: DatasetResults) -> Advice | None:
    """Advise a look at training labels that are probably wrong or missing."""
    found = results.best.read(doubts.read_doubts)
    if found is None:
        return None
    kinds = found["kinds"]
    named = " and ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    share = sum(kinds.values()) / max(int(results.data.counts.sum()), 1)
    remedy = shlex.join(["ovaflow", "doubts", results.best.relative_folder])
    finding = f"Labels of held-out training texts that look wrong or missing: {named}."
    return Advice(share, finding, remedy, "lists them, the worst first")


def advise_on_unlabelled_records(results: DatasetResults) -> Advice | None:
    """Advise to leave out training instances without labels."""
    unlabelled = results.data.unlabelled
    if not unlabelled:
        return None
    share = unlabelled / results.data.n_train
    finding = (
        f"{unlabelled:,} training {results.data.noun} have no label: they teach the model that no "
        "label fits."
    )
    effect = "leaves them out, if they have not been labelled yet"
    return Advice(share, finding, "prepare: {unlabelled: drop}", effect)


ADVICE_FUNCTIONS = (
    advise_on_unknown_labels,
    advise_on_missing_candidates,
    advise_on_low_ranks,
    advise_on_improbable_labels,
    advise_on_missed_labels,
    advise_on_near_duplicates,
    advise_on_model_size,
    advise_on_sweep_range,
    advise_on_second_stage,
    advise_on_label_errors,
    advise_on_unlabelled_records,
)
"""Functions that advise on the results of a dataset, or return None."""


def _percent(share: float) -> str:
    return f"{wording.short_percent(share)} %"


SECTION = ReportSection("advice", "What to do next", show_advice)
