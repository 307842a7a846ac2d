"""Which records a person looks at: options --review, --sure and --unsure of ovaflow predict."""

import heapq
import itertools
from pathlib import Path
from typing import NamedTuple

import click

from ovaflow.cli.options import taken_together
from ovaflow.prediction.predictions import require_second_stage


class RecordSelection(NamedTuple):
    """Which records are written: all, the first ``review`` by errors, or the ``sure`` ones."""

    review: int | None = None
    sure: float | None = None
    unsure: Path | None = None

    @property
    def selects(self):
        return self.review is not None or self.sure is not None

    def require_sense(self, model, output, question, optimise):
        """Refuse options that do not go together."""
        if (self.sure is None) != (self.unsure is None) or (self.sure and output is None):
            message = "--sure, --output and --unsure go together: a share, and a file for each kind"
            raise click.UsageError(message)
        if not self.selects:
            return
        require_second_stage(model)
        name = "review" if self.sure is None else "sure"
        if self.review is not None and self.sure is not None:
            message = "--review goes without --sure: --unsure is in this order already"
            raise click.UsageError(message)
        others = {"optimise": optimise, "min-probability": question.min_probability, "min-score": question.min_score}
        for other, value in others.items():
            if value is not None:
                message = f"--{name} takes the labels that fit, so it goes without --{other}"
                raise click.UsageError(message)


selects_records = taken_together(
    "selection",
    {
        "review": click.option(
            "--review",
            type=click.IntRange(1),
            metavar="N",
            help="Write only the N records with the most expected errors, wrong or missing labels, "
            "these first, each with the labels that fit; needs a second stage.",
        ),
        "sure": click.option(
            "--sure",
            type=click.FloatRange(0.5, 1, max_open=True),
            help="Write only records of whose labels at least this share should be right, such as 0.9, "
            "each with the labels that fit; needs --unsure and a second stage.",
        ),
        "unsure": click.option(
            "--unsure",
            type=click.Path(path_type=Path),
            help="With --sure: file for all other records, those with the most expected errors first.",
        ),
    },
    lambda given: RecordSelection(**given),
)


def by_errors(answered, n=None):
    """Records and answers, those with the most expected errors first; all of them, or n."""
    answered = list(answered) if n is None else answered
    return heapq.nlargest(len(answered) if n is None else n, answered, _errors)


def _errors(pair):
    _, answer = pair
    return answer.quality.errors


def divide(batches, sure, lines, others):
    """Write sure records of batches to ``lines``; number of their labels, and of right ones."""
    labels, right, unsure = 0, 0.0, []
    for record, answer in itertools.chain.from_iterable(batches):
        if answer.quality.precision >= sure:
            lines.add([(record, answer)])
            labels += len(answer.labels)
            right += answer.quality.right
        else:
            unsure.append((record, answer))
    others.add(by_errors(unsure))
    return labels, right


def report_division(model, selection, output, amounts, labels, right):
    """Say how many records are sure, and what the second stage measured of such records."""
    n, n_others = amounts
    parts = f"{output}: {n:,} of {n + n_others:,} records, {labels:,} labels"
    if labels:
        parts += f", of which {100 * right / labels:.0f} % should be right"
    click.echo(f"ovaflow: {parts}; {selection.unsure}: the others, most expected errors first", err=True)
    click.echo(f"ovaflow: {_measured(model.reranker.parameters['check'], selection.sure)}", err=True)


def _measured(check, sure):
    rows = [row for row in check.get("sure", ()) if row["level"] <= sure]
    if not rows:
        remedy = "fit the second stage again (ovaflow rerank)"
        return f"how many such labels are right was not measured; {remedy}"
    row = rows[-1]
    held_out = f"{check['texts']:,} held-out records"
    if not row["records"]:
        return f"of {held_out} none was so sure, so nothing tells how many labels are right"
    share = f"{100 * row['right']:.0f} % of {row['labels']:,} labels were right"
    return f"measured: of {held_out} {row['records']:,} were so sure, and {share}"
