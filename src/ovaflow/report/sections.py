"""The sections of the report in their order; those of methods stand beside what they measure."""

from ovaflow.registry import find_method, import_reference, method_names
from ovaflow.report import (
    advice,
    costs,
    data,
    doubts,
    examples,
    folds,
    model_card,
    quality,
    run_settings,
    second_stage,
    single_label,
    summary,
    sweeps,
    training,
)


def _of_methods():
    for name in method_names():
        for place in find_method(name).report_sections:
            yield import_reference(place)


SECTIONS = [
    summary.SECTION,
    advice.SECTION,
    data.SECTION,
    quality.SECTION,
    single_label.SECTION,
    examples.SECTION,
    costs.SECTION,
    run_settings.SECTION,
    sweeps.SECTION,
    sweeps.CHOICES_SECTION,
    folds.SECTION,
    quality.DEV_SECTION,
    second_stage.SECTION,
    examples.LABELS_SECTION,
    doubts.SECTION,
    training.SECTION,
    *_of_methods(),
    model_card.SECTION,
]
