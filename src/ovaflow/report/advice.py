"""The section What to do next: what would improve the best run most, each with the setting or
command that does it.
"""

import shlex
from typing import NamedTuple

from ovaflow.dataset.remarks import are_twins_notable
from ovaflow.evaluation.analysis import LIKELY_PROBABILITY, count_missed_labels
from ovaflow.report import doubts, wording
from ovaflow.report.section import ReportSection
from ovaflow.results.best_run import choose_comparison_metric

MAX_REMARKS = 5
"""Remarks that are shown, those of the largest share first."""

MIN_SHARE = 0.02
"""Share of the labels, or whatever a remark is about, below which it is not worth a sentence."""

_SMALLER = 0.3
_LOST = 0.005
"""A model is worth a remark that is smaller by this share, and loses no more than this of a metric.
"""

_MEMORY = 0.005
"""Near twins are worth a remark if P@1 is better by this than without them."""

_SIZE_WEIGHT = 0.1
"""A byte counts less than a label."""


class Advice(NamedTuple):
    """What was found, and what to do about it."""

    # of the labels, instances or bytes that it is about: the larger, the earlier it is told
    share: float
    finding: str
    remedy: str  # a setting as a config file has it, or a command
    effect: str  # what the remedy does


def read_misses(run):
    """Count why a run misses labels; None without a second stage."""
    if not (run.reranked and run.has_test_labels):
        return None
    missed = count_missed_labels(run.measured)
    for each in missed["missed"]:
        each["name"] = run.dataset.label_name(each["label"])
    return missed


def show_advice(anchor, results):
    found = [advice for find in ADVICE_FUNCTIONS if (advice := find(results)) is not None]
    worth = [advice for advice in found if advice.share >= MIN_SHARE]
    worth.sort(key=lambda advice: -advice.share)
    return {"advice": worth[:MAX_REMARKS], "run": results.best} if worth else None


def advise_on_unknown_labels(results):
    """Advise more training texts where labels of test instances occur in none."""
    test = results.test
    if not test.unknown:
        return None
    share = test.unknown / test.labels
    finding = (
        f"{_percent(share)} of the labels that people assigned to test {results.card.things} "
        f"({test.unknown:,} of {test.labels:,}) have no training {results.card.things[:-1]}: they are never suggested."
    )
    if test.hopeless:
        finding += f" {test.hopeless:,} of {test.instances:,} {results.card.things} have only such labels, or none."
    files = "extra: {more.csv: 1}" if results.card.things == "texts" else "train: more.txt"
    remedy = f"datasets: {{{results.card.name}: {{{files}}}}}"
    return Advice(share, finding, remedy, f"adds training {results.card.things} that have them")


def _shares_missed(results, why):
    counts = results.best.read(read_misses)
    if counts is None or not counts["true"]:
        return None, 0.0
    return counts, counts[why] / counts["true"]


def advise_on_missing_candidates(results):
    """Advise other features where true labels are no candidates of the second stage."""
    counts, share = _shares_missed(results, "no candidates")
    if counts is None or results.card.things != "texts":
        return None
    known = share - results.test.unseen / counts["true"]
    finding = f"{_percent(known)} of the true labels are missed because they are not among the candidates of their text."
    effect = "looks for features that bring more of them, on held-out texts"
    return Advice(known, finding, "prepare: {features: auto}", effect)


def advise_on_low_ranks(results):
    """Advise a longer list where true labels are candidates after the fifth."""
    counts, share = _shares_missed(results, "ranked too low")
    if counts is None or results.best.metrics.get("top_k", 10) >= 10:
        return None
    five, ten = counts["listed"].values()
    finding = f"{_percent(share)} of the true labels are candidates, but ranked after the fifth."
    effect = (
        f"shows {_percent(ten / counts['true'])} of the true labels to people who choose from a list, "
        f"instead of {_percent(five / counts['true'])}"
    )
    return Advice(share, finding, "predict: {top_k: 10}", effect)


def advise_on_improbable_labels(results):
    """Advise a lower probability where true labels are among the first five, but do not fit."""
    counts, share = _shares_missed(results, "below the cut")
    if counts is None or not counts["likely"]["labels"]:
        return None
    found = counts["likely"]["true"] / counts["true"]
    right = counts["likely"]["true"] / counts["likely"]["labels"]
    finding = f"{_percent(share)} of the true labels are among the first five of their text, but not sure enough to fit it."
    model = shlex.quote(f"{results.best.folder}/model.h5")
    remedy = f"ovaflow predict {model} FILE --min-probability {LIKELY_PROBABILITY:g}"
    effect = (
        f"suggests {_percent(found)} of the true labels instead of {_percent(counts['found'] / counts['true'])}; "
        f"{_percent(right)} of what it suggests is right"
    )
    return Advice(share, finding, remedy, effect)


def advise_on_missed_labels(results):
    """Advise a look at the labels that are missed most often though they are candidates."""
    counts, _ = _shares_missed(results, "found")
    if counts is None or not counts["missed"]:
        return None
    labels = counts["missed"]
    share = sum(each["missed"] for each in labels) / counts["true"]
    named = ", ".join(
        f"{wording.plain(each['name'], 60)} ({each['missed']:,} of {each['true']:,})"
        for each in labels
    )
    remedy = shlex.join(["ovaflow", "errors", results.best.folder, f"--label={labels[0]['name']}"])
    finding = f"Missed most often, though candidates: {named}."
    return Advice(share, finding, remedy, "shows where, and which words spoke against it")


def advise_on_near_duplicates(results):
    """Advise a split without near twins where those in the test set make the figures better."""
    metrics = results.best.metrics
    instances = metrics.get("instances", 0)
    twins = metrics.get("instances_with_near_twin", 0)
    if not are_twins_notable(twins, instances) or twins == instances:
        return None
    of_all = metrics["P@1"]
    without = metrics["without_near_twins"]["P@1"]
    if of_all - without < _MEMORY:
        return None
    share = twins / instances
    finding = (
        f"{_percent(share)} of the test {results.card.things} have a near twin in training, such as another edition, "
        f"so the figures contain some memory: P@1 of the others is {_percent(without)} instead of {_percent(of_all)}"
    )
    remedy = "prepare: {split: together}"
    effect = "keeps near twins on one side, if there is no test file"
    if results.card.is_builtin:
        remedy = "metrics.json"
        effect = "has figures without them under without_near_twins"
    return Advice(share, f"{finding}.", remedy, effect)


def advise_on_model_size(results):
    """Advise a larger threshold where the model would be much smaller and hardly worse."""
    choice = results.best.choice_of_pruning
    if not choice:
        return None
    [chosen] = (point for point in choice["points"] if point["prune"] == choice["chosen"])
    for point in reversed(choice["points"]):
        changes = [
            (chosen["change"][name]["mean"], point["change"][name]) for name in ("nDCG@5", "PSP@5")
        ]
        lost = max(before - change["mean"] for before, change in changes)
        at_worst = max(before - change["mean"] + 2 * change["error"] for before, change in changes)
        smaller = 1 - point["model_bytes"] / chosen["model_bytes"]
        if smaller >= _SMALLER and lost <= _LOST:
            finding = (
                f"A model {_percent(smaller)} smaller loses {100 * lost:.1f} points of nDCG@5 or PSP@5 held out, "
                f"at worst {100 * at_worst:.1f}."
            )
            remedy = f"train: {{prune: {point['prune']:g}}}"
            return Advice(
                _SIZE_WEIGHT * smaller,
                finding,
                remedy,
                "drops these weights; nothing is trained again",
            )
    return None


def advise_on_sweep_range(results):
    """Advise further values where the best one of a sweep is its largest or smallest."""
    for name, sweep in results.sweeps.items():
        metric = choose_comparison_metric(sweep.runs)
        if sweep.key == "seed" or len(sweep.runs) < 2 or metric is None:
            continue
        best = max(sweep.runs, key=lambda run: run.metrics[metric])
        values = [float(run.settings["C"]) for run in sweep.runs]
        C = float(best.settings["C"])
        if C in (values[0], values[-1]):
            further = [C / 4, C / 2] if values[0] == C else [2 * C, 4 * C]
            which = "smallest" if values[0] == C else "largest"
            listed = ", ".join(f"{value:g}" for value in sorted({*values, *further}))
            finding = f"The best {metric} of the sweep {name} is that of its {which} C, {C:g}."
            return Advice(
                1.0,
                finding,
                f"runs: {{{name}: {{sweep: {{C: [{listed}]}}}}}}",
                "tries values beyond it",
            )
    return None


def advise_on_second_stage(results):
    """Advise a second stage where the best run has none."""
    if results.best.reranked or results.best.settings["rerank"] != "0":
        return None
    finding = f"{results.best.name} gives no probabilities, and does not know how many labels fit."
    effect = "fits a second stage, which ranks the candidates and gives them probabilities"
    return Advice(0.5, finding, "predict: {rerank: 0.2}", effect)


def advise_on_label_errors(results):
    """Advise a look at training labels that are probably wrong or missing."""
    of_best = results.best.read(doubts.read_doubts)
    if of_best is None:
        return None
    named = " and ".join(f"{count:,} {kind}" for kind, count in of_best["kinds"].items())
    share = sum(of_best["kinds"].values()) / max(int(results.card.counts.sum()), 1)
    remedy = shlex.join(["ovaflow", "doubts", results.best.folder])
    finding = f"Labels of held-out training texts that look wrong or missing: {named}."
    return Advice(share, finding, remedy, "lists them, the worst first")


def advise_on_unlabelled_records(results):
    """Advise to leave out training instances without labels, if they are many."""
    unlabelled = results.card.unlabelled
    if not unlabelled:
        return None
    finding = (
        f"{unlabelled:,} training {results.card.things} have no label: they teach that none fits."
    )
    remedy = "prepare: {unlabelled: drop}"
    return Advice(
        unlabelled / results.card.n_train,
        finding,
        remedy,
        "leaves them out, if they are only not labelled yet",
    )


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


def _percent(share):
    return f"{wording.percent(share, 1)} %"


SECTION = ReportSection("advice", "What to do next", show_advice)
