"""ovaflow explain: a text with its words coloured, tables of words with bars."""

import json
import unicodedata
from operator import itemgetter

import click
import numpy as np
from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from ovaflow.cli.listing import print_table
from ovaflow.cli.options import FILE_TYPE, number_option, second_stage_options
from ovaflow.cli.predict import open_predictor
from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import open_dataset
from ovaflow.prediction.explanation import (
    describe_label,
    find_labels,
    get_display_name,
    make_label_entry,
)
from ovaflow.prediction.predictor import count_texts_without_words
from ovaflow.prediction.reasons import explain_labels
from ovaflow.prediction.sources import remark_on_columns
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.csr import select_rows


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
    path, model, text, dataset, row, names, labels, top, reranker, rerank, as_json
) -> None:
    """Show which words push labels up and down.

    For a text or a test instance: what each word adds to the labels' scores, and what the second
    stage, if there is one, knows besides. For labels alone: their strongest words and nearest
    labels, and with --dataset those of their training records that fit worst.
    """
    if (path is None) == (model is None):
        raise click.UsageError("give one MODEL")
    predictor = open_predictor(path or model, reranker, rerank=rerank)
    chosen = find_labels(predictor, names)
    if text is None and row is None:
        if not chosen:
            raise click.UsageError(
                "nothing to explain: give --text, --dataset and --row, or --label"
            )
        opened = None if dataset is None else _open_dataset_of(predictor.model, dataset)
        answer = {"labels": [_described(predictor, opened, label, top) for label in chosen]}
    else:
        text, x = _instance(predictor, text, dataset, row)
        if text is not None and count_texts_without_words(predictor, x):
            click.echo("ovaflow: the text has no word that the model knows", err=True)
        if dataset is None and (remark := remark_on_columns(predictor.model)):
            click.echo(f"ovaflow: {remark}", err=True)
        if not chosen:
            chosen = [label for label in predictor.top_k(x, labels)[0][0] if label >= 0]
        explained = [each.as_json() for each in explain_labels(predictor, x, chosen, top, text)]
        answer = {"text": text, "labels": explained}
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False))
        return
    console = Console(highlight=False)
    for entry in answer["labels"]:
        console.print()
        if "text" in answer:
            _show_contributions(console, entry, text)
        else:
            _show_label(console, entry)


def _instance(predictor, text, dataset, row):
    """The text of an instance, None where there is none, and its features."""
    if (text is None) == (dataset is None) or (dataset is None) != (row is None):
        raise click.UsageError("give either --text, or --dataset and --row")
    if text is not None:
        text = click.get_text_stream("stdin").read() if text == "-" else text
        return text, predictor.from_texts([text])
    opened = _open_dataset_of(predictor.model, dataset)
    n = opened.test.X.n_rows
    if row >= n:
        raise InputError(f"no test instance {row}: there are {n:,}, from 0", path=dataset)
    # what is kept of a text is its beginning: the features are those of the whole
    texts = opened.test_texts([row]) if predictor.takes_text else []
    X = predictor.model.instances(opened.test)
    return (texts[0] if texts else None), select_rows(X, np.array([row]))


def _open_dataset_of(model, path):
    opened = open_dataset(path)
    model.require(dataset=opened)
    return opened


def _described(predictor, dataset, label, top):
    positives = {"positives": int(predictor.model.counts[label])}
    entry = (
        make_label_entry(predictor, label) | positives | describe_label(predictor, label, top, top)
    )
    return (
        entry
        if dataset is None
        else entry | {"records": _records(predictor.model, dataset, label, top)}
    )


def _records(model, dataset, label, top):
    """The training records of a label that fit it worst by the model itself; names of labels are
    not records.
    """
    rows = dataset.positives.part(label, label + 1).indices
    rows = rows[rows < dataset.n_documents]
    scores = model.score(model.instances(dataset.train.take(rows)), np.array([label]))[:, 0]
    worst = np.argsort(scores, kind="stable")[:top]
    rows = rows[worst].tolist()
    scores = scores[worst].tolist()
    records = []
    for row, record, score in zip(rows, dataset.records("train", rows), scores, strict=True):
        # in place of the text, which is not kept
        words = dataset.heaviest_features("train", row, 8)
        name = record or f"training instance {row}"
        records.append({"record": name, "score": score, "words": words})
    return records


_BAR = 12
_EIGHTHS = " ▏▎▍▌▋▊▉"

_STYLES = {"up": "green", "down": "red"}


def _show_contributions(console, explained, text) -> None:
    outcome = f"score {explained['score']:+.3f}"
    if "probability" in explained:
        outcome += f", {_sureness(explained['probability'])}"
    console.print(_heading(explained, outcome))
    if text:
        console.print(_marked(text, explained), soft_wrap=False)
    console.print(_two_sides(explained, "contribution", ("pushed up by", "pushed down by")))
    console.print(
        f"bias {explained['bias']:+.3f}, other words {explained['others']:+.3f}", style="dim"
    )
    for each in explained.get("evidence", ()):
        console.print(Text(f"• {_plain(each['text'])}"))


def _sureness(probability):
    if probability is None:
        return f"no candidate: not among the {N_CANDIDATES} highest scores"
    return f"probability {100 * probability:.0f} %"


def _show_label(console, answer) -> None:
    console.print(
        _heading(answer, f"{answer['positives']:,} training positives, bias {answer['bias']:+.3f}")
    )
    console.print(_two_sides(answer, "weight", ("speaks for it", "speaks against it")))
    nearest = [(get_display_name(each), each["cosine"]) for each in answer["nearest"]]
    console.print(
        _table(
            "nearest labels", nearest, "cyan", "", max((cosine for _, cosine in nearest), default=0)
        )
    )
    if "records" in answer:
        _show_records(console, answer)


def _show_records(console, answer) -> None:
    shown = len(answer["records"])
    title = "no training records"
    if shown:
        amount = f"{shown} of {answer['positives']:,} training records"
        title = f"{amount}, the lowest scores first; the model has seen them"
    console.print(Text(title, style="dim"))
    if shown:
        print_table(make_table(title, "record", _RECORDS, answer["records"], _row_of_record))


_RECORDS = (
    Column("score", itemgetter("score"), "{:+.3f}".format),
    Column("words", lambda each: ", ".join(each["words"])),
)


def _row_of_record(each, cells):
    return Row(each["record"], cells)


def _heading(answer, outcome):
    uri = ("  ", (answer["uri"], "dim")) if "uri" in answer else ()
    return Text.assemble((_plain(get_display_name(answer)), "bold"), "  ", (outcome, "cyan"), *uri)


def _two_sides(answer, value, titles):
    sides = {side: [(each["feature"], each[value]) for each in answer[side]] for side in _STYLES}
    longest = max((abs(number) for rows in sides.values() for _, number in rows), default=0)
    tables = zip(titles, sides, strict=True)
    shown = (_table(title, sides[side], _STYLES[side], "+", longest) for title, side in tables)
    # below one another where the terminal is narrow
    return Columns(shown, padding=(0, 4))


def _table(title, rows, style, sign, longest):
    if not rows:
        return Text(f"{title}: none", style="dim")
    columns = (
        Column("", itemgetter(1), f"{{:{sign}.3f}}".format),
        Column("", lambda row: _bar(abs(row[1]) / (longest or 1)), colour=style),
    )
    return make_table(title, title, columns, rows, lambda row, cells: Row(row[0], cells)).terminal


def _bar(share):
    full, eighths = divmod(int(8 * _BAR * share), 8)
    return "█" * full + _EIGHTHS[eighths]


def _marked(text, explained):
    marked = Text(_plain(text))
    for side, style in _STYLES.items():
        for each in explained[side]:
            for start, end in each["spans"]:
                marked.stylize(f"bold {style}", start, end)
    return marked


def _plain(text):
    """Control characters as spaces, one for one: a text must not steer the terminal."""
    return "".join(
        " " if unicodedata.category(character) in ("Cc", "Cf", "Cs") else character
        for character in text
    )
