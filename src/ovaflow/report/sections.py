"""The sections of the report in their order; those of methods stand beside what they measure."""

from ovaflow.methods import find_method, method_names, placed
from ovaflow.report import (
    cards,
    costs,
    doubts,
    examples,
    folds,
    frequency,
    pruning,
    quality,
    second_stage,
    single_label,
    sweeps,
    training,
)


def _of_methods():
    for name in method_names():
        for place in find_method(name).report_sections:
            yield placed(place)


SECTIONS = [
    cards.DATA_SECTION,
    sweeps.CHOICES_SECTION,
    quality.SECTION,
    folds.SECTION,
    single_label.SECTION,
    quality.PUBLISHED_SECTION,
    second_stage.SECTION,
    costs.TRADE_OFFS_SECTION,
    costs.COST_SECTION,
    sweeps.SECTION,
    frequency.SECTION,
    examples.TRUST_SECTION,
    doubts.SECTION,
    training.SECTION,
    pruning.SIZE_SECTION,
    *_of_methods(),
    examples.LABELS_SECTION,
    examples.DOCUMENTS_SECTION,
    examples.FAILURES_SECTION,
    costs.RESOURCES_SECTION,
    cards.MODEL_CARD_SECTION,
    cards.SETTINGS_SECTION,
]
