"""ovaflow explain: a text with its words coloured, tables of words with bars."""

import json
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from ovaflow.cli.listing import print_table
from ovaflow.cli.options import FILE_TYPE, number_option, second_stage_options
from ovaflow.cli.predict import open_predictor
from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.model.model_file import Model
from ovaflow.prediction.explanation import (
    describe_label,
    find_labels,
    get_display_name,
    make_label_entry,
)
from ovaflow.prediction.predictor import Predictor, count_texts_without_words
from ovaflow.prediction.reasons import explain_labels
from ovaflow.prediction.sources import remark_on_columns
from ovaflow.report.tables import Cell, Column, Row, make_table
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.csr import CSR, select_rows


@click.command("explain")
@click.argument("path", required=False, type=FILE_TYPE, metavar="[MODEL]")
@click.option(
    "--model", type=FILE_TYPE, help="The model file, model.h5, unless it is the argument."
)
@click.option("--text", help="Explain what is predicted for this text; - reads standard input.")
@click.option(
    "--dataset",
    type=FILE_TYPE,
    help="The model's dataset.h5: for --row, or for the training records of labels.",
)
@click.option(
    "--row",
    type=click.IntRange(min=0),
    help="Explain a test instance of the dataset: its number, from 0.",
)
@click.option(
    "--label",
    "names",
    multiple=True,
    help="Label to explain, instead of those predicted; repeatable.",
)
@number_option("--labels", 3, "Number of predicted labels to explain.")
@number_option("--top", 10, "Number of words listed for each sign.")
@second_stage_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def explain_command(
    *,
    path: Path | None,
    model: Path | None,
    text: str | None,
    dataset: Path | None,
    row: int | None,
    names: tuple[str, ...],
    labels: int,
    top: int,
    reranker: Path | None,
    rerank: bool,
    as_json: bool,
) -> None:
    """Show which words push labels up and down.

    For a text or a test instance: what each word adds to the labels' scores, and the further
    evidence of the second stage, if there is one. For labels alone: their strongest words and
    nearest labels, and with --dataset the training records that fit them worst.
    """
    if (path is None) == (model is None):
        raise click.UsageError("give one MODEL")
    model_path = path or model
    assert model_path is not None
    predictor = open_predictor(model_path, reranker, rerank=rerank)
    chosen = find_labels(predictor, names)
    answer: dict[str, Any]
    if text is None and row is None:
        if not chosen:
            raise click.UsageError(
                "nothing to explain: give --text, --dataset and --row, or --label"
            )
        opened = None
        if dataset is not None:
            opened = _open_dataset(predictor.model, dataset)
        answer = {"labels": [_describe(predictor, opened, label, top) for label in chosen]}
    else:
        text, x = _read_instance(predictor, text, dataset, row)
        if text is not None and count_texts_without_words(predictor, x):
            click.echo("ovaflow: the text has no word that the model knows", err=True)
        if dataset is None:
            remark = remark_on_columns(predictor.model)
            if remark:
                click.echo(f"ovaflow: {remark}", err=True)
        if not chosen:
            ids = predictor.top_k(x, labels)[0]
            chosen = [label for label in ids[0] if label >= 0]
        explained = [each.as_json() for each in explain_labels(predictor, x, chosen, top, text)]
        answer = {"text": text, "labels": explained}
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False))
    else:
        _print_answer(answer)


def _print_answer(answer: dict[str, Any]) -> None:
    """Print the explanations of a text's labels, or of labels alone."""
    console = Console(highlight=False)
    for entry in answer["labels"]:
        console.print()
        if "text" in answer:
            _show_contributions(console, entry, answer["text"])
        else:
            _show_label(console, entry)


def _read_instance(
    predictor: Predictor, text: str | None, dataset: Path | None, row: int | None
) -> tuple[str | None, CSR]:
    """Return the text of an instance, or None, and its features."""
    if (text is None) == (dataset is None) or (dataset is None) != (row is None):
        raise click.UsageError("give either --text, or --dataset and --row")
    if text is not None:
        if text == "-":
            text = sys.stdin.read()
        return text, predictor.from_texts([text])
    assert dataset is not None
    assert row is not None
    opened = _open_dataset(predictor.model, dataset)
    n = opened.test.X.n_rows
    if row >= n:
        raise InputError(f"no test instance {row}: there are {n:,}, from 0", path=dataset)
    stored_text = None
    if predictor.takes_text:
        # only the beginning of a text is stored: the features are those of all of it
        texts = opened.test_texts([row])
        stored_text = texts[0] if texts else None
    X = predictor.model.instances(opened.test)
    return stored_text, select_rows(X, np.array([row]))


def _open_dataset(model: Model, path: Path) -> Dataset:
    """Open the dataset of a model."""
    opened = open_dataset(path)
    model.require(dataset=opened)
    return opened


def _describe(
    predictor: Predictor, dataset: Dataset | None, label: int, top: int
) -> dict[str, Any]:
    """Describe a label, with its training records if there is a dataset."""
    entry = make_label_entry(predictor, label)
    entry["positives"] = int(predictor.model.counts[label])
    entry |= describe_label(predictor, label, top, top)
    if dataset is not None:
        entry["records"] = _find_worst_records(predictor.model, dataset, label, top)
    return entry


def _find_worst_records(
    model: Model, dataset: Dataset, label: int, top: int
) -> list[dict[str, Any]]:
    """Find the training records of a label with the lowest scores.

    Names of labels, on which models may be trained too, are no records.
    """
    rows = dataset.positives.part(label, label + 1).indices
    rows = rows[rows < dataset.n_documents]
    scores = model.score(model.instances(dataset.train.take(rows)), np.array([label]))[:, 0]
    worst = np.argsort(scores, kind="stable")[:top]
    rows = rows[worst].tolist()
    scores = scores[worst].tolist()
    records = []
    for row, record, score in zip(rows, dataset.records("train", rows), scores, strict=True):
        # instead of the text, which is not stored
        words = dataset.heaviest_features("train", row, 8)
        name = record or f"training instance {row}"
        records.append({"record": name, "score": score, "words": words})
    return records


_BAR_WIDTH = 12
"""Characters of the longest bar."""

_EIGHTHS = " ▏▎▍▌▋▊▉"

_SIDE_STYLES = {"up": "green", "down": "red"}


def _show_contributions(console: Console, explained: dict[str, Any], text: str | None) -> None:
    """Print the contributions of words and evidence to a label's score."""
    outcome = f"score {explained['score']:+.3f}"
    if "probability" in explained:
        outcome += f", {_format_probability(explained['probability'])}"
    console.print(_make_heading(explained, outcome))
    if text:
        console.print(_mark_words(text, explained), soft_wrap=False)
    console.print(_make_side_tables(explained, "contribution", ("pushed up by", "pushed down by")))
    console.print(
        f"bias {explained['bias']:+.3f}, other words {explained['others']:+.3f}", style="dim"
    )
    for each in explained.get("evidence", ()):
        console.print(Text(f"• {_replace_control_characters(each['text'])}"))


def _format_probability(probability: float | None) -> str:
    """Format the probability of a label, which only candidates have."""
    if probability is None:
        return (
            f"not a candidate: neither among the {N_CANDIDATES} highest scores nor a label of"
            " similar texts"
        )
    return f"probability {100 * probability:.0f} %"


def _show_label(console: Console, answer: dict[str, Any]) -> None:
    """Print the strongest words and the nearest labels of a label."""
    console.print(
        _make_heading(
            answer, f"{answer['positives']:,} training positives, bias {answer['bias']:+.3f}"
        )
    )
    console.print(_make_side_tables(answer, "weight", ("speaks for it", "speaks against it")))
    nearest = [(get_display_name(each), each["cosine"]) for each in answer["nearest"]]
    longest = max((cosine for _, cosine in nearest), default=0.0)
    console.print(_make_bar_table("nearest labels", nearest, "cyan", "", longest))
    if "records" in answer:
        _show_records(console, answer)


def _show_records(console: Console, answer: dict[str, Any]) -> None:
    """Print the training records of a label that fit it worst."""
    shown = len(answer["records"])
    title = "no training records"
    if shown:
        amount = f"{shown} of {answer['positives']:,} training records"
        title = f"{amount}, the lowest scores first; the model has seen them"
    console.print(Text(title, style="dim"))
    if shown:
        print_table(
            make_table(title, "record", _RECORD_COLUMNS, answer["records"], _make_record_row)
        )


_RECORD_COLUMNS = (
    Column("score", itemgetter("score"), "{:+.3f}".format),
    Column("words", lambda each: ", ".join(each["words"])),
)


def _make_record_row(each: Mapping[str, Any], cells: list[Cell]) -> Row:
    return Row(each["record"], cells)


def _make_heading(answer: dict[str, Any], outcome: str) -> Text:
    """Make the heading of a label: its name, an outcome and its URI."""
    uri: tuple[Any, ...] = ()
    if "uri" in answer:
        uri = ("  ", (answer["uri"], "dim"))
    return Text.assemble(
        (_replace_control_characters(get_display_name(answer)), "bold"),
        "  ",
        (outcome, "cyan"),
        *uri,
    )


def _make_side_tables(answer: dict[str, Any], value: str, titles: tuple[str, str]) -> Columns:
    """Make the tables of the words that push a label up and down, with bars of one scale."""
    sides = {}
    longest = 0.0
    for side in _SIDE_STYLES:
        sides[side] = [(each["feature"], each[value]) for each in answer[side]]
        for _, number in sides[side]:
            longest = max(longest, abs(number))
    tables = []
    for title, (side, style) in zip(titles, _SIDE_STYLES.items(), strict=True):
        tables.append(_make_bar_table(title, sides[side], style, "+", longest))
    # below one another where the terminal is narrow
    return Columns(tables, padding=(0, 4))


def _make_bar_table(
    title: str, rows: Sequence[tuple[str, float]], style: str, sign: str, longest: float
) -> Any:
    """Make a table of numbers with bars, of which the longest one has the value ``longest``."""
    if not rows:
        return Text(f"{title}: none", style="dim")
    columns = (
        Column("", itemgetter(1), f"{{:{sign}.3f}}".format),
        Column("", lambda row: _draw_bar(abs(row[1]) / (longest or 1)), colour=style),
    )
    return make_table(title, title, columns, rows, _make_bar_row).terminal


def _make_bar_row(row: tuple[str, float], cells: list[Cell]) -> Row:
    name, _ = row
    return Row(name, cells)


def _draw_bar(share: float) -> str:
    """Draw a bar, exact to an eighth of a character."""
    full, eighths = divmod(int(8 * _BAR_WIDTH * share), 8)
    return "█" * full + _EIGHTHS[eighths]


def _mark_words(text: str, explained: Mapping[str, Any]) -> Text:
    """Colour the words of a text that push a label up and down."""
    marked = Text(_replace_control_characters(text))
    for side, style in _SIDE_STYLES.items():
        for each in explained[side]:
            for start, end in each["spans"]:
                marked.stylize(f"bold {style}", start, end)
    return marked


def _replace_control_characters(text: str) -> str:
    """Replace control characters by spaces, one by one: a text must not steer the terminal."""
    characters = []
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cf", "Cs"):
            character = " "
        characters.append(character)
    return "".join(characters)
