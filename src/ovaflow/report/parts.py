"""What stands in the section of a dataset, in this order: each part has a module and a template of its own."""

from collections.abc import Callable
from typing import NamedTuple

from ovaflow.report import (
    calibrations,
    cost,
    dataset_card,
    embeddings,
    frequency,
    galleries,
    model_card,
    published,
    quality,
    resources,
    settings,
    solving,
    sweeps,
    trade_offs,
    trees,
)


class Part(NamedTuple):
    """A part of a dataset's section.

    Attributes
    ----------
    key : str
        Names its template and ends its anchor.
    title : str
    show : callable
        Of the dataset's anchor and the :class:`ovaflow.report.gather.Section`: what the
        template shows, or nothing where there is nothing to show.
    """

    key: str
    title: str
    show: Callable


def _labels(anchor, section):
    return section.labels


def _examples(anchor, section):
    return section.examples


def _failures(anchor, section):
    return section.failures


PARTS = (
    Part("data", "Data", dataset_card.show),
    Part("quality", "Quality", quality.show),
    Part("published", "Beside published results", published.show),
    Part("trade-offs", "Trade-offs", trade_offs.show),
    Part("cost", "Cost", cost.show),
    Part("sweeps", "Sweeps", sweeps.show),
    Part("frequency", "Rare and frequent labels", frequency.show),
    Part("training", "Training", solving.show),
    Part("iterations", "Iteration by iteration", galleries.show_iterations),
    Part("weights", "Weights and pruning", galleries.show_weights),
    Part("trees", "Trees of instances", trees.show),
    Part("embeddings", "Label embeddings", embeddings.show),
    Part("calibration", "Probabilities and thresholds", calibrations.show),
    Part("labels", "Labels and their words", _labels),
    Part("examples", "Test documents", _examples),
    Part("failures", "Failures worth a look", _failures),
    Part("resources", "Resources", resources.show),
    Part("model-card", "Model card", model_card.show),
    Part("settings", "Settings", settings.show),
)
