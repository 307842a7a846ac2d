"""The model card of a pack, README.md: what hubs read of a model, and what people should know."""

from typing import NamedTuple

import yaml

from ovaflow import __version__
from ovaflow.model.model_file import what_scores_are
from ovaflow.report import cards, wording

NAME = "README.md"

LICENCE = "LICENSE"
"""Name of the licence's text in the pack."""


class Statements(NamedTuple):
    """What only the owner of a model can say."""

    licence: str | None = None  # SPDX identifier, or :data:`LICENCE` for a text beside the card
    languages: tuple[str, ...] = ()  # ISO 639 codes
    intended_use: str | None = None


METRICS = {
    "P@1": ("precision", "share of texts whose first label is right"),
    "P@3": ("precision", "share of right labels among the first three"),
    "P@5": ("precision", "share of right labels among the first five"),
    "nDCG@5": ("ndcg", "the first five, earlier places counting more"),
    "recall@5": ("recall", "share of the true labels that are among the first five"),
    "PSP@5": ("precision", "P@5 with more weight on rare labels"),
    "macro-F1@5": ("f1", "F1 of each label among the first five, mean over all labels"),
    "F1-fit": ("f1", "F1 of each text with as many labels as fit it, mean"),
}
"""Metrics on the card: what hubs call them, and what they mean."""

_OF_FIGURE = ("name", "type", "value")
_TAGS = ["multi-label-classification", "extreme-multi-label-classification"]


def write_card(name, dataset, model, metrics, statements):
    """A card in Markdown; ``metrics`` of metrics.json, empty where the model was not measured."""
    fields = _front_matter(name, dataset, model, metrics, statements)
    front = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
    body = "\n\n".join(_body(name, model, metrics, statements))
    return f"---\n{front}---\n\n{body}\n"


def _front_matter(name, dataset, model, metrics, statements):
    """The metadata that the Hugging Face Hub documents."""
    front = {}
    if statements.licence == LICENCE:
        front |= {"license": "other", "license_name": f"{name}-licence", "license_link": LICENCE}
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
    for_card = [title for title in METRICS if metrics.get(title) is not None]
    return [(title, METRICS[title][0], round(metrics[title], 4)) for title in for_card]


def _body(name, model, metrics, statements):
    ranked = "probability" if model.probabilistic else "score"
    labels, train = wording.count(model.trained.sum()), model.parameters.get("train", {})
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
    rows = [f"| {title} | {value:.4f} | {METRICS[title][1]} |" for title, _, value in _figures(metrics)]
    if rows:
        lines = ["| metric | value | meaning |", "| --- | --- | --- |", *rows]
        instances = wording.count(metrics.get("instances"))
        yield f"## Quality\n\nMeasured on {instances} test instances.\n\n" + "\n".join(lines)


def _training_data(model):
    source = [f"{name}: {words}" for name, words in cards.source_words(model.transform.get("source", {}))]
    return _items([*source, f"features: {cards.transform_words(model.transform)}"])


def _limits(model):
    yield from cards.limits_of_labels(model.counts, model.trained)
    if model.probabilistic:
        yield "Probabilities hold for texts and annotators like those of training."
    else:
        yield what_scores_are(model.parameters.get("train", {}))
    yield cards.LIMIT_OF_TRAINING


def _licence(licence):
    if licence == LICENCE:
        return f"See [{LICENCE}]({LICENCE})."
    return f"{licence or 'Not stated: ask the owner before you use the model.'}"


def _items(sentences):
    return "\n".join(f"* {wording.plain(sentence, 600)}" for sentence in sentences)
