"""The section that a dataset begins with: how good its best run is, in words, and a table of all
runs.
"""

from ovaflow.report import wording
from ovaflow.report.costs import MODEL_COLUMN, TRAINING_COLUMN
from ovaflow.report.quality import make_main_columns
from ovaflow.report.second_stage import get_reliability
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import find_as_good_as_best, make_runs_table
from ovaflow.results.best_run import choose_comparison_metric

SURE_PRECISION = 0.9
"""Expected precision of texts that can go without a person."""


def show_summary(anchor, results):
    if not results.best.has_test_labels:
        sentences = [_learned(results), "No test text has a label, so nothing was measured."]
        return {"sentences": sentences, "compared": None, "table": None}
    return {
        "sentences": [_learned(results), *_quality(results), *_automatic(results)],
        "compared": _compared(results),
        "table": make_runs_table(
            "Runs", results.runs, [*make_main_columns(results.runs), TRAINING_COLUMN, MODEL_COLUMN]
        ),
        "shared": [run for run in results.runs if run.same_training_run is not None],
    }


def _learned(results):
    card = results.card
    sentence = f"{wording.count(results.best.trained)} labels were learned from {wording.count(card.n_train)} {card.things}"
    return f"{sentence}, and tested on {wording.count(card.n_test)} others."


def _quality(results):
    run = results.best
    yield f"Of 100 {results.card.things}, {_of_100(run.metrics['P@1'])} get a right first label."
    if "F1-fit" in run.metrics:
        yield (
            f"It suggests {wording.decimal(run.metrics['labels-fit'])} labels for a text: "
            f"{_of_100(run.metrics['P-fit'])} of 100 of these are right, "
            f"and {_of_100(run.metrics['R-fit'])} of 100 labels that people assigned are among them."
        )


def _automatic(results):
    run = results.best
    sure = get_reliability(run).get("sure")
    if sure is None:
        yield "It gives no probabilities, so a person has to look at every answer."
        return
    [row] = (row for row in sure if row["level"] == SURE_PRECISION)
    if not row["records"]:
        yield f"No answer is {100 * SURE_PRECISION:.0f} % sure as a whole, so a person has to look at every one."
        return
    yield (
        f"{_of_100(row['instances'])} of 100 answers are sure enough to go without a person: "
        f"of 100 of their labels {_of_100(row['right'])} are right."
    )


def _of_100(share):
    number = 100 * share
    return f"{number:.0f}" if number >= 1 or number == 0 else "fewer than 1"


def _compared(results):
    """Say which run is the best, and which are as good but for chance; nothing of a single run."""
    runs = results.runs
    name = choose_comparison_metric(runs)
    if len(runs) == 1 or name is None:
        return None
    values = [run.metrics.get(name) for run in runs]
    sampled = [run.samples.get(name) for run in runs]
    as_good = [
        runs[place]
        for place in find_as_good_as_best(values, sampled)
        if runs[place] is not results.best
    ]
    return {"metric": name, "as_good": as_good, "all": len(as_good) == len(runs) - 1}


SECTION = ReportSection("summary", "Summary", show_summary)
