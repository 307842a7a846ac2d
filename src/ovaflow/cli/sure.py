"""Options --sure and --unsure of ovaflow predict: records that can go without a look, and the
others.
"""

import itertools
from pathlib import Path
from typing import NamedTuple

import click

from ovaflow.cli.options import collect_options
from ovaflow.prediction.predictions import require_second_stage


class Division(NamedTuple):
    """The least expected precision of sure records, and the file of the others; None: records are
    not divided.
    """

    sure: float | None = None
    unsure: Path | None = None

    def require_sense(self, model, output, question, optimise) -> None:
        """Refuse options that do not go together."""
        if (self.sure is None) != (self.unsure is None) or (self.sure and output is None):
            message = "--sure, --output and --unsure go together: a share, and a file for each kind"
            raise click.UsageError(message)
        if self.sure is None:
            return
        require_second_stage(model)
        others = {
            "optimise": optimise,
            "min-probability": question.min_probability,
            "min-score": question.min_score,
        }
        for other, value in others.items():
            if value is not None:
                raise click.UsageError(
                    f"--sure takes the labels that fit, so it goes without --{other}"
                )


division_options = collect_options(
    "division",
    {
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
    lambda given: Division(**given),
)


def divide_records(batches, sure, lines, others):
    """Write sure records of batches to ``lines``; number of their labels, and of right ones."""
    labels = 0
    right = 0.0
    unsure = []
    for record, answer in itertools.chain.from_iterable(batches):
        if answer.quality.precision >= sure:
            lines.add([(record, answer)])
            labels += len(answer.labels)
            right += answer.quality.right
        else:
            unsure.append((record, answer))
    others.add(sorted(unsure, key=_expected_errors, reverse=True))
    return labels, right


def _expected_errors(pair):
    _, answer = pair
    return answer.quality.errors


def report_division(model, division, output, amounts, labels, right) -> None:
    """Say how many records are sure, and what the second stage measured of such records."""
    n, n_others = amounts
    parts = f"{output}: {n:,} of {n + n_others:,} records, {labels:,} labels"
    if labels:
        parts += f", of which {100 * right / labels:.0f} % should be right"
    click.echo(
        f"ovaflow: {parts}; {division.unsure}: the others, most expected errors first", err=True
    )
    click.echo(f"ovaflow: {_measured(model.reranker.parameters['check'], division.sure)}", err=True)


def _measured(check, sure):
    row = [row for row in check["sure"] if row["level"] <= sure][-1]
    held_out = f"{check['texts']:,} held-out records"
    if not row["records"]:
        return f"of {held_out} none was so sure, so nothing tells how many labels are right"
    share = f"{100 * row['right']:.0f} % of {row['labels']:,} labels were right"
    return f"measured: of {held_out} {row['records']:,} were so sure, and {share}"
