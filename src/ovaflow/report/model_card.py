"""The model card: a section of the report, and README.md of a pack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import yaml

from ovaflow import __version__
from ovaflow.evaluation.metric import get_metric, model_card_metric_names
from ovaflow.model.model_file import Model, what_scores_are
from ovaflow.report import data, wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Cell, Column, Row, make_table, metric_getter

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run

CARD_NAME = "README.md"
"""Name of the card in a pack."""

LICENCE_NAME = "LICENSE"
"""Name of the licence's text in a pack."""

TRAINING_LIMIT = (
    "A model knows only the words of its training texts, not other languages, other subjects or "
    "new words. It repeats what annotators did, including their omissions and habits."
)


class Statements(NamedTuple):
    """Statements that only the owner of a model can make."""

    licence: str | None = None  # SPDX identifier, or LICENCE_NAME for a text next to the card
    languages: tuple[str, ...] = ()  # ISO 639 codes
    intended_use: str | None = None


class _CardMetric(NamedTuple):
    """A metric on the card."""

    name: str
    type: str  # as the Hugging Face Hub names it
    value: float


def render_card(
    name: str, dataset: str, model: Model, metrics: dict[str, Any], statements: Statements
) -> str:
    """Render the card of a model in Markdown, with metadata that the Hugging Face Hub reads.

    Parameters
    ----------
    name : str
        Name of the model.
    dataset : str
        Name of the dataset.
    model : Model
        The model, with its second stage.
    metrics : dict
        Content of metrics.json; empty where the model was not measured.
    statements : Statements
        Statements of the owner.
    """
    front_matter = yaml.safe_dump(
        _make_front_matter(name, dataset, model, metrics, statements),
        sort_keys=False,
        allow_unicode=True,
    )
    body = "\n\n".join(_list_paragraphs(name, model, metrics, statements))
    return f"---\n{front_matter}---\n\n{body}\n"


def _make_front_matter(
    name: str, dataset: str, model: Model, metrics: dict[str, Any], statements: Statements
) -> dict[str, Any]:
    """Make the metadata that the Hugging Face Hub documents."""
    front_matter: dict[str, Any] = {}
    if statements.licence == LICENCE_NAME:
        front_matter["license"] = "other"
        front_matter["license_name"] = f"{name}-licence"
        front_matter["license_link"] = LICENCE_NAME
    elif statements.licence:
        front_matter["license"] = statements.licence.lower()
    if statements.languages:
        front_matter["language"] = list(statements.languages)
    front_matter["library_name"] = "ovaflow"
    front_matter["pipeline_tag"] = "text-classification"
    front_matter["tags"] = [
        "multi-label-classification",
        "extreme-multi-label-classification",
        model.method,
    ]
    card_metrics = _list_metrics(metrics)
    if card_metrics:
        types = dict.fromkeys(metric.type for metric in card_metrics)
        front_matter["metrics"] = list(types)
        result = {
            "task": {"type": "text-classification", "name": "Multi-label classification"},
            "dataset": {"type": dataset, "name": dataset, "split": "test"},
            "metrics": [metric._asdict() for metric in card_metrics],
        }
        front_matter["model-index"] = [{"name": name, "results": [result]}]
    return front_matter


def _list_metrics(metrics: dict[str, Any]) -> list[_CardMetric]:
    card_metrics = []
    for name in model_card_metric_names():
        if metrics.get(name) is not None:
            metric, _ = get_metric(name)
            card_metrics.append(_CardMetric(name, metric.hub, round(metrics[name], 4)))
    return card_metrics


def _list_paragraphs(
    name: str, model: Model, metrics: dict[str, Any], statements: Statements
) -> Iterator[str]:
    """List the paragraphs of the card below its metadata."""
    ranked_by = "probability" if model.probabilistic else "score"
    labels = wording.count(model.trained.sum())
    train = model.parameters.get("train", {})
    method = model.method
    if "initialization" in train:
        method = f"{method}, {train['initialization']}"
    yield f"# {name}"
    yield (
        f"The model finds the best of {labels} labels for a text and ranks them by {ranked_by}. "
        f"It was trained by ovaflow ({method}) and packed by version {__version__}."
    )
    use = statements.intended_use or "Not stated by the owner."
    yield f"## Intended use\n\n{wording.plain(use, 600)}"
    yield f"## Use\n\n```sh\npip install ovaflow\n{_make_example(model)}\n```"
    yield from _describe_quality(metrics)
    yield f"## Training data\n\n{_describe_training_data(model)}"
    yield f"## Limits\n\n{_format_items(_list_limits(model))}"
    yield f"## Licence\n\n{_describe_licence(statements.licence)}"
    yield "`sha256sum -c SHA256SUMS` compares the files with their checksums."


def _make_example(model: Model) -> str:
    """Make a command line that uses the model."""
    if "token_pattern" in model.transform:
        return 'ovaflow predict model.h5 --text "a text"'
    return "ovaflow predict model.h5 features.svm"


def _describe_quality(metrics: dict[str, Any]) -> Iterator[str]:
    """Yield the section on quality; nothing where the model was not measured."""
    card_metrics = _list_metrics(metrics)
    if not card_metrics:
        return
    lines = ["| metric | value | meaning |", "| --- | --- | --- |"]
    for card_metric in card_metrics:
        metric, _ = get_metric(card_metric.name)
        lines.append(f"| {card_metric.name} | {card_metric.value:.4f} | {metric.sentence} |")
    instances = wording.count(metrics.get("instances"))
    yield f"## Quality\n\nMeasured on {instances} test instances.\n\n" + "\n".join(lines)


def _describe_training_data(model: Model) -> str:
    items = []
    for name, words in data.describe_source(model.transform.get("source", {})):
        items.append(f"{name}: {words}")
    items.append(f"features: {data.describe_features(model.transform)}")
    return _format_items(items)


def _list_limits(model: Model) -> Iterator[str]:
    yield from describe_label_limits(model.counts, model.trained)
    if model.probabilistic:
        yield "Probabilities hold for texts and annotators like those of training."
    else:
        yield what_scores_are(model.parameters.get("train", {}))
    yield TRAINING_LIMIT


def _describe_licence(licence: str | None) -> str:
    if licence == LICENCE_NAME:
        return f"See [{LICENCE_NAME}]({LICENCE_NAME})."
    return licence or "Not stated: ask the owner before you use the model."


def _format_items(sentences: Iterable[str]) -> str:
    return "\n".join(f"* {wording.plain(sentence, 600)}" for sentence in sentences)


def describe_label_limits(counts: np.ndarray, known: np.ndarray) -> list[str]:
    """Describe in sentences how many labels have few or no training instances.

    Parameters
    ----------
    counts : ndarray of int, shape (l,)
        Training instances of each label.
    known : ndarray of bool, shape (l,)
        Labels that the model can predict.
    """
    n_unknown = int((~known).sum())
    n_rare = data.count_rare(counts)
    sentences = []
    if n_rare:
        n_trained = wording.count(int((counts > 0).sum()))
        sentences.append(
            f"{wording.count(n_rare)} of {n_trained} labels have at most {data.FEW_POSITIVES} "
            "training instances."
        )
    if n_unknown:
        sentences.append(
            f"{wording.count(n_unknown)} labels have no training instance and are never predicted."
        )
    return sentences


def show_model_card(results: DatasetResults) -> dict[str, Any]:
    """Show the models, statements of the owner, and limits."""
    return {
        "settings": results.request.settings,
        "models": make_table("Models", "run", MODEL_COLUMNS, results.runs, _make_row),
        "limits": describe_limits(results),
    }


def _make_row(run: Run, cells: list[Cell]) -> Row:
    return Row(run.name, cells, run.series)


def _format_time(run: Run) -> str:
    return datetime.fromtimestamp(run.written, UTC).strftime("%Y-%m-%d %H:%M")


MODEL_COLUMNS = (
    Column("method", lambda run: run.settings.get("method", wording.MISSING)),
    Column(
        "labels",
        lambda run: run.n_trained,
        wording.count,
        hint="with a classifier, where each label has its own",
    ),
    Column("model", metric_getter("model_bytes"), wording.size, unit="bytes"),
    Column("written, UTC", _format_time),
    Column("by ovaflow", lambda run: run.model.version or wording.MISSING),
    Column("ranked by", lambda run: "probability" if run.reranked else "score"),
)
"""Method, size and time of each model."""


def describe_limits(results: DatasetResults) -> list[str]:
    """Describe the limits of the models in sentences, with the numbers of the dataset."""
    sentences = describe_label_limits(results.data.counts, results.data.known)
    unseen = results.assigned_labels.unseen
    if unseen:
        sentences.append(
            f"{wording.count(unseen)} true labels of test instances never occur in training."
        )
    by_score: dict[str, None] = {}
    by_probability = []
    for run in results.runs:
        if run.reranked:
            by_probability.append(run.name)
        else:
            by_score[what_scores_are(run.settings)] = None
    sentences += by_score
    if by_probability:
        sentences.append(
            f"Probabilities of {', '.join(by_probability)} hold for texts and annotators like "
            "those of training."
        )
    sentences.append(
        "A model never says that no label fits: at least one is predicted, however improbable, "
        "unless --min-probability or --min-score leaves it out."
    )
    sentences.append(TRAINING_LIMIT)
    return sentences


SECTION = ReportSection("model-card", "Model card", show_model_card, folded=True)
