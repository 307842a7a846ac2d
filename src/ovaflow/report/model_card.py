"""The model card, as a section of the report and as README.md of a pack: what people should know of
a model.
"""

from datetime import UTC, datetime
from typing import NamedTuple

import yaml

from ovaflow import __version__
from ovaflow.evaluation.metric import get_metric, model_card_metric_names
from ovaflow.model.model_file import what_scores_are
from ovaflow.report import data, wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_table, metric_getter

CARD_NAME = "README.md"

LICENCE_NAME = "LICENSE"
"""Name of the licence's text in the pack."""


class Statements(NamedTuple):
    """What only the owner of a model can say."""

    licence: str | None = None  # SPDX identifier, or :data:`LICENCE` for a text beside the card
    languages: tuple[str, ...] = ()  # ISO 639 codes
    intended_use: str | None = None


_OF_FIGURE = ("name", "type", "value")
_TAGS = ["multi-label-classification", "extreme-multi-label-classification"]


def render_card(name, dataset, model, metrics, statements):
    """A card in Markdown; ``metrics`` of metrics.json, empty where the model was not measured."""
    fields = _front_matter(name, dataset, model, metrics, statements)
    front = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
    body = "\n\n".join(_body(name, model, metrics, statements))
    return f"---\n{front}---\n\n{body}\n"


def _front_matter(name, dataset, model, metrics, statements):
    """The metadata that the Hugging Face Hub documents."""
    front = {}
    if statements.licence == LICENCE_NAME:
        front |= {
            "license": "other",
            "license_name": f"{name}-licence",
            "license_link": LICENCE_NAME,
        }
    elif statements.licence:
        front["license"] = statements.licence.lower()
    if statements.languages:
        front["language"] = list(statements.languages)
    front |= {"library_name": "ovaflow", "pipeline_tag": "text-classification"}
    front["tags"] = [*_TAGS, model.method]
    figures = _figures(metrics)
    if figures:
        front["metrics"] = list(dict.fromkeys(kind for _, kind, _ in figures))
        result = {
            "task": {"type": "text-classification", "name": "Multi-label classification"},
            "dataset": {"type": dataset, "name": dataset, "split": "test"},
            "metrics": [dict(zip(_OF_FIGURE, figure, strict=True)) for figure in figures],
        }
        front["model-index"] = [{"name": name, "results": [result]}]
    return front


def _figures(metrics):
    for_card = [name for name in model_card_metric_names() if metrics.get(name) is not None]
    return [(name, get_metric(name)[0].hub, round(metrics[name], 4)) for name in for_card]


def _body(name, model, metrics, statements):
    ranked = "probability" if model.probabilistic else "score"
    labels = wording.count(model.trained.sum())
    train = model.parameters.get("train", {})
    start = f", {train['initialization']}" if "initialization" in train else ""
    yield f"# {name}"
    yield (
        f"The model finds the best of {labels} labels for a text and ranks them by {ranked}. "
        f"It was trained by ovaflow ({model.method}{start}) and packed by version {__version__}."
    )
    use = statements.intended_use or "Not stated by the owner."
    yield f"## Intended use\n\n{wording.plain(use, 600)}"
    yield f"## Use\n\n```sh\npip install ovaflow\n{_example(model)}\n```"
    yield from _quality(metrics)
    yield f"## Training data\n\n{_training_data(model)}"
    yield f"## Limits\n\n{_items(_limits(model))}"
    yield f"## Licence\n\n{_licence(statements.licence)}"
    yield "`sha256sum -c SHA256SUMS` compares the files with their checksums."


def _example(model):
    if "token_pattern" in model.transform:
        return 'ovaflow predict model.h5 --text "a text"'
    return "ovaflow predict model.h5 features.svm"


def _quality(metrics):
    rows = [
        f"| {title} | {value:.4f} | {get_metric(title)[0].sentence} |"
        for title, _, value in _figures(metrics)
    ]
    if rows:
        lines = ["| metric | value | meaning |", "| --- | --- | --- |", *rows]
        instances = wording.count(metrics.get("instances"))
        yield f"## Quality\n\nMeasured on {instances} test instances.\n\n" + "\n".join(lines)


def _training_data(model):
    source = [
        f"{name}: {words}"
        for name, words in data.describe_source(model.transform.get("source", {}))
    ]
    return _items([*source, f"features: {data.describe_features(model.transform)}"])


def _limits(model):
    yield from describe_label_limits(model.counts, model.trained)
    if model.probabilistic:
        yield "Probabilities hold for texts and annotators like those of training."
    else:
        yield what_scores_are(model.parameters.get("train", {}))
    yield TRAINING_LIMIT


def _licence(licence):
    if licence == LICENCE_NAME:
        return f"See [{LICENCE_NAME}]({LICENCE_NAME})."
    return f"{licence or 'Not stated: ask the owner before you use the model.'}"


def _items(sentences):
    return "\n".join(f"* {wording.plain(sentence, 600)}" for sentence in sentences)


TRAINING_LIMIT = (
    "A model knows only the words of its training texts, not other languages, other subjects or new words. "
    "It repeats what annotators did, including their omissions and habits."
)


def describe_label_limits(counts, known):
    """How many labels have few training instances or none, in sentences."""
    unknown = int((~known).sum())
    rare = data.count_rare(counts)
    sentences = []
    if rare:
        trained = wording.count(int((counts > 0).sum()))
        sentences.append(
            f"{wording.count(rare)} of {trained} labels have at most {data.FEW_POSITIVES} training instances."
        )
    if unknown:
        sentences.append(
            f"{wording.count(unknown)} labels have no training instance and are never predicted."
        )
    return sentences


def show_model_card(anchor, results):
    def row_of(run, cells):
        return Row(run.name, cells, run.series)

    return {
        "settings": results.asked.settings,
        "models": make_table("Models", "run", MODEL_COLUMNS, results.runs, row_of),
        "limits": describe_limits(results),
    }


MODEL_COLUMNS = (
    Column("method", lambda run: run.settings.get("method", wording.MISSING)),
    Column(
        "labels",
        lambda run: run.trained,
        wording.count,
        hint="with a classifier, where each label has its own",
    ),
    Column("model", metric_getter("model_bytes"), wording.size, unit="bytes"),
    Column(
        "written, UTC",
        lambda run: datetime.fromtimestamp(run.written, UTC).strftime("%Y-%m-%d %H:%M"),
    ),
    Column("by ovaflow", lambda run: run.model.version or wording.MISSING),
    Column("ranked by", lambda run: "probability" if run.reranked else "score"),
)
"""What each run is, and when it was made."""


def describe_limits(results):
    """What the models cannot do, in sentences, with the figures of this dataset."""
    sentences = describe_label_limits(results.card.counts, results.card.known)
    if results.test.unseen:
        sentences.append(
            f"{wording.count(results.test.unseen)} true labels of test instances never occur in training."
        )
    sentences += dict.fromkeys(
        what_scores_are(run.settings) for run in results.runs if not run.reranked
    )
    reranked = ", ".join(run.name for run in results.runs if run.reranked)
    if reranked:
        sentences.append(
            f"Probabilities of {reranked} hold for texts and annotators like those of training."
        )
    return [
        *sentences,
        f"The first {results.best.metrics.get('top_k')} labels are always predicted, however unlikely: "
        "a model never says that no label fits.",
        TRAINING_LIMIT,
    ]


SECTION = ReportSection("model-card", "Model card", show_model_card, folded=True)
