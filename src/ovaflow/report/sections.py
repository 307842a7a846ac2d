"""The sections of the report in their order; those of methods stand beside what they measure."""

from ovaflow.methods import find_method, method_names, placed
from ovaflow.report import (
    advice,
    cards,
    costs,
    doubts,
    examples,
    folds,
    quality,
    second_stage,
    single_label,
    summary,
    sweeps,
    training,
)


def _of_methods():
    for name in method_names():
        for place in find_method(name).report_sections:
            yield placed(place)


SECTIONS = [
    summary.SECTION,
    advice.SECTION,
    cards.DATA_SECTION,
    quality.SECTION,
    single_label.SECTION,
    examples.SECTION,
    costs.SECTION,
    cards.SETTINGS_SECTION,
    sweeps.SECTION,
    sweeps.CHOICES_SECTION,
    folds.SECTION,
    quality.DEV_SECTION,
    second_stage.SECTION,
    examples.LABELS_SECTION,
    doubts.SECTION,
    training.SECTION,
    *_of_methods(),
    cards.MODEL_CARD_SECTION,
]
