"""Options --sure and --unsure of ovaflow predict.

They divide records into those that need no check, and the others.
"""

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from ovaflow.cli.options import collect_options
from ovaflow.cli.predicted_files import AnsweredBatch, AnswerLines
from ovaflow.model.model_file import Model
from ovaflow.prediction.answer import Answer
from ovaflow.prediction.answer_files import AnsweredRecord
from ovaflow.prediction.predictions import require_second_stage
from ovaflow.prediction.question import Question
from ovaflow.reranking.expected_quality import ExpectedQuality
from ovaflow.reranking.reranked_model import RerankedModel


class Division(NamedTuple):
    """A division of records; without values records are not divided."""

    sure: float | None = None  # least expected precision of sure records
    unsure: Path | None = None  # file of the other records

    def require_sense(
        self, model: Model, output: Path | None, question: Question, optimise: str | None
    ) -> None:
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
            help="Write only records of whose labels at least this share is expected to be right,"
            " such as 0.9, each with the labels that fit; needs --unsure and a second stage.",
        ),
        "unsure": click.option(
            "--unsure",
            type=click.Path(path_type=Path),
            help="With --sure: file for all other records, those with the most expected errors"
            " first.",
        ),
    },
    lambda given: Division(**given),
)


class DivisionResult(NamedTuple):
    """The sizes of a division."""

    n_sure: int
    n_unsure: int
    n_labels: int  # labels of the sure records
    expected_right: float  # expected number of labels that are right


def divide_records(
    batches: Iterable[AnsweredBatch], sure: float, lines: AnswerLines, others: AnswerLines
) -> DivisionResult:
    """Write sure records of batches to ``lines``, and then the others, the most errors first."""
    n_labels = 0
    expected_right = 0.0
    unsure = []
    for record, answer in itertools.chain.from_iterable(batches):
        quality = _get_quality(answer)
        if quality.precision >= sure:
            lines.add([(record, answer)])
            n_labels += len(answer.labels)
            expected_right += float(quality.right)
        else:
            unsure.append((record, answer))
    others.add(sorted(unsure, key=_get_expected_errors, reverse=True))
    return DivisionResult(lines.n, others.n, n_labels, expected_right)


def _get_quality(answer: Answer) -> ExpectedQuality:
    """Return the expected quality of an answer, which those of second stages have."""
    assert answer.quality is not None
    return answer.quality


def _get_expected_errors(pair: tuple[AnsweredRecord, Answer]) -> float:
    _, answer = pair
    return float(_get_quality(answer).errors)


def report_division(
    model: Model, division: Division, output: Path | None, result: DivisionResult
) -> None:
    """Print how many records are sure, and how the second stage did on such held-out records."""
    n = result.n_sure + result.n_unsure
    summary = f"{output}: {result.n_sure:,} of {n:,} records, {result.n_labels:,} labels"
    if result.n_labels:
        share = result.expected_right / result.n_labels
        summary += f", of which {100 * share:.0f} % should be right"
    click.echo(
        f"ovaflow: {summary}; {division.unsure}: the others, most expected errors first", err=True
    )
    assert isinstance(model, RerankedModel)
    assert division.sure is not None
    check = model.reranker.parameters["check"]
    click.echo(f"ovaflow: {_describe_measured(check, division.sure)}", err=True)


def _describe_measured(check: Mapping[str, Any], sure: float) -> str:
    """Describe the held-out records that were as sure."""
    levels = [row for row in check["sure"] if row["level"] <= sure]
    row = levels[-1]
    held_out = f"{check['texts']:,} held-out records"
    if not row["records"]:
        return f"of {held_out} none was so sure, so it is unknown how many labels are right"
    share = f"{100 * row['right']:.0f} % of {row['labels']:,} labels were right"
    return f"measured: of {held_out} {row['records']:,} were so sure, and {share}"
