"""ovaflow explain."""

import json

import click
import numpy as np
from rich.console import Console

from ovaflow.cli.explained_words import show_instance, show_label
from ovaflow.cli.options import FILE
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.prediction.calibration import FILE_NAME, read_calibration
from ovaflow.prediction.explanation import (
    contributions,
    find_labels,
    nearest_labels,
    shown_name,
    strongest_features,
    words_in_text,
)
from ovaflow.prediction.predictor import Predictor, without_words
from ovaflow.sparse.csr import rows_of


@click.command("explain")
@click.argument("path", required=False, type=FILE, metavar="[MODEL]")
@click.option("--model", type=FILE, help="The model file, model.h5, unless it is the argument.")
@click.option("--text", help="Explain what is predicted for it; - reads standard input.")
@click.option("--dataset", type=FILE, help="Explain a test instance of this dataset.h5 instead of a text.")
@click.option("--row", type=click.IntRange(min=0), help="Its number, from 0.")
@click.option("--label", "names", multiple=True, help="Label to explain, instead of those predicted; repeatable.")
@click.option("--labels", default=3, show_default=True, type=click.IntRange(min=1), help="Predicted labels explained.")
@click.option("--top", default=10, show_default=True, type=click.IntRange(min=1), help="Words listed of each sign.")
@click.option("--calibration", type=FILE, help="For probabilities; by default calibration.h5 beside the model.")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of tables.")
def command(path, model, text, dataset, row, names, labels, top, calibration, as_json):
    """Say which words push labels up and down.

    With a text, or a test instance, what each word adds to the scores of the
    labels; with labels alone, their strongest words and nearest labels.
    """
    if (path is None) == (model is None):
        raise click.UsageError("give one MODEL")
    predictor = Predictor.open(path or model)
    chosen = find_labels(predictor, names)
    calibrated = _calibration(calibration, predictor.model)
    if text is None and dataset is None:
        if not chosen:
            raise click.UsageError("nothing to explain: give --text, --dataset and --row, or --label")
        answers, show = [_label(predictor, label, top) for label in chosen], show_label
    else:
        text, x = _instance(predictor, text, dataset, row)
        if text is not None and without_words(predictor, x):
            click.echo("ovaflow: the text has no word that the model knows", err=True)
        if not chosen:
            chosen = [label for label in predictor.top_k(x, labels)[0][0] if label >= 0]
        places = words_in_text(predictor, text) if text is not None else []
        answers = [_explained(predictor, x, label, top, places, calibrated) for label in chosen]
        answers, show = [{"text": text, "labels": answers}], show_instance
    if as_json:
        click.echo(json.dumps(answers[0] if show is show_instance else {"labels": answers}, ensure_ascii=False))
        return
    console = Console(highlight=False)
    for answer in answers:
        show(console, answer)


def _calibration(path, model):
    if path is None:
        beside = model.path.with_name(FILE_NAME)
        return read_calibration(beside, model) if beside.exists() else None
    return read_calibration(path, model)


def _instance(predictor, text, dataset, row):
    """The text of an instance, None where there is none, and its features."""
    if (text is None) == (dataset is None) or (dataset is None) != (row is None):
        raise click.UsageError("give either --text, or --dataset and --row")
    if text is not None:
        text = click.get_text_stream("stdin").read() if text == "-" else text
        return text, predictor.from_texts([text])
    opened = open_dataset(dataset)
    if opened.checksum != predictor.model.inputs.get("dataset"):
        raise InputError(
            f"was not trained on {dataset}",
            path=predictor.model.path,
            remedy="give the model and the dataset that it was trained on",
        )
    n = opened.test.X.n_rows
    if row >= n:
        raise InputError(f"no test instance {row}: there are {n:,}, from 0", path=dataset)
    # what is kept of a text is its beginning: the features are those of the whole
    texts = opened.test_texts([row]) if predictor.takes_text else []
    return (texts[0] if texts else None), rows_of(opened.test.X, np.array([row]))


def _explained(predictor, x, label, top, places, calibration):
    explanation = contributions(predictor, x, label, top)
    answer = {"name": shown_name(predictor, label), "id": int(label), "score": explanation.score}
    if calibration is not None:
        answer["probability"] = float(calibration.probabilities([label], [explanation.score])[0])
    standing = {}
    for start, end, feature in places:
        standing.setdefault(feature, []).append([start, end])
    for side in ("up", "down"):
        answer[side] = [
            {"word": _word(predictor, feature), "adds": value, "places": standing.get(feature, [])}
            for feature, value in getattr(explanation, side)
        ]
    return answer | {"bias": explanation.bias, "others": explanation.others}


def _label(predictor, label, top):
    strongest = strongest_features(predictor, label, top)
    answer = {"name": shown_name(predictor, label), "id": label, "positives": int(predictor.model.counts[label])}
    for side in ("up", "down"):
        answer[side] = [
            {"word": _word(predictor, feature), "weight": value} for feature, value in getattr(strongest, side)
        ]
    nearest = [
        {"name": shown_name(predictor, other), "id": other, "cosine": cosine}
        for other, cosine in nearest_labels(predictor, label, top)
    ]
    return answer | {"bias": strongest.bias, "nearest": nearest}


def _word(predictor, feature):
    names = predictor.feature_names
    return names[feature] if names else f"feature {feature}"
