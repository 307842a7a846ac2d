"""The sections of the report, in their order on the page."""

from ovaflow.registry import find_method, import_reference, method_names
from ovaflow.report import (
    advice,
    costs,
    data,
    doubts,
    examples,
    folds,
    label_words,
    model_card,
    quality,
    run_settings,
    second_stage,
    single_label,
    summary,
    sweeps,
    training,
)
from ovaflow.report.section import ReportSection


def _import_sections_of_methods() -> list[ReportSection]:
    sections = []
    for name in method_names():
        for reference in find_method(name).report_sections:
            sections.append(import_reference(reference))
    return sections


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
    label_words.SECTION,
    doubts.SECTION,
    training.SECTION,
    *_import_sections_of_methods(),
    model_card.SECTION,
]
