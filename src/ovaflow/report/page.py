"""The page: one HTML file that needs nothing else."""

from pathlib import Path

import jinja2

from ovaflow.report import (
    calibration_figures,
    calibrations,
    embedding_figures,
    figures,
    galleries,
    sweep_figures,
    sweeps,
    tables,
    tree_figures,
    trees,
    wording,
)
from ovaflow.report.label_trees import tree_table
from ovaflow.report.power_law import fit_power_law

_TEMPLATES = Path(__file__).parent / "templates"


def _environment():
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    for words in (wording.count, wording.percent, wording.decimal, wording.plain):
        environment.filters[words.__name__] = words
    environment.globals["tables"] = tables
    return environment


def render(sections, machine=(), software=()):
    """Write the page.

    Parameters
    ----------
    sections : list of Section
        One a dataset.
    machine, software : list of (str, str)
        Names and values for the foot of the page.

    Returns
    -------
    str
        HTML; the same for the same arguments.
    """
    template = _environment().get_template("page.html.j2")
    views = [_view(f"dataset-{number}", section) for number, section in enumerate(sections, 1)]
    anchors = {section.card.name: view["anchor"] for section, view in zip(sections, views, strict=True)}
    n_runs = sum(len(section.runs) for section in sections)
    shown = {"views": views, "anchors": anchors, "n_runs": n_runs, "overview": _overview(sections)}
    return template.render(shown, machine=machine, software=software)


def _overview(sections):
    """Main figures of all runs, for the top of the page."""
    columns = [tables.Column("run", words=True), *(tables.Column(name) for name in ("P@1", "P@3", "P@5", "PSP@5"))]
    columns += [tables.Column("training time"), tables.Column("model size")]
    rows = []
    for section in sections:
        cells = tables.mark_columns([_overview_cells(run) for run in section.runs], [False] * 4 + [True] * 2)
        for place, (run, row) in enumerate(zip(section.runs, cells, strict=True)):
            name = section.card.name if place == 0 else ""
            rows.append(tables.Row(name, [tables.Cell(run.name), *row]))
    return tables.Table("dataset", columns, rows)


def _overview_cells(run):
    metrics = [tables.figure(run.metrics.get(name), wording.percent) for name in ("P@1", "P@3", "P@5", "PSP@5")]
    training = tables.figure(run.train_seconds, wording.duration)
    return [*metrics, training, tables.figure(run.model_bytes, wording.size)]


def _view(anchor, section):
    """Tables and figures of a section, beside the section itself."""
    runs = section.runs
    solved = [run for run in runs if run.training is not None]
    grown = [run for run in runs if run.trees is not None]
    curves = [run for run in grown if run.trees.curve]
    calibrated = [run for run in runs if run.calibration is not None]
    embedded = [run for run in runs if run.embedding is not None]
    law = fit_power_law(section.card.counts)
    return {
        "anchor": anchor,
        "section": section,
        "runs": runs,
        "solved": solved,
        "quality": tables.metric_table(runs),
        "further": tables.metric_table(runs, None),
        "cost": tables.cost_table(runs),
        "groups": tables.group_table(runs, section.groups),
        "published": tables.published_table(runs, section.published) if section.published else None,
        "trees": tree_table(section.trees) if section.trees else None,
        "status": tables.status_table(solved) if solved else None,
        "resources": tables.resource_table(section.resources) if section.resources else None,
        "settings": tables.settings_table(runs),
        "law": law,
        "rank_frequency": figures.rank_frequency(f"{anchor}-rank", section.card.counts, law),
        "sweeps": [
            (sweep, _sweep_view(f"{anchor}-sweep-{number}", sweep)) for number, sweep in enumerate(section.sweeps)
        ],
        "recalls": figures.recall_by_frequency(f"{anchor}-recall", runs),
        "grown": trees.trees_table(grown) if grown else None,
        "curves": curves,
        "by_trees": tree_figures.quality_by_trees(f"{anchor}-trees", curves) if curves else None,
        "calibrated": [
            (run, calibrations.probability_table(run), calibrations.threshold_table(run)) for run in calibrated
        ],
        "reliability": calibration_figures.reliability(f"{anchor}-reliability", calibrated) if calibrated else None,
        "embedded": embedded,
        "spectrum": embedding_figures.spectrum(f"{anchor}-spectrum", embedded) if embedded else None,
        "by_rank": embedding_figures.error_by_rank(f"{anchor}-ranks", embedded) if embedded else None,
        "newton": figures.newton_histogram(f"{anchor}-newton", solved) if solved else None,
        "by_positives": galleries.draw(anchor, solved, galleries.BY_POSITIVES),
        "traced": galleries.draw(anchor, [run for run in runs if run.details.curves], galleries.BY_ITERATION),
        "weights": galleries.join(
            galleries.draw(anchor, [run for run in runs if run.details.weights], galleries.WEIGHTS),
            galleries.draw(anchor, [run for run in runs if run.details.pruning], galleries.BY_THRESHOLD),
        ),
    }


def _sweep_view(name, sweep):
    metrics = [{"series": number, "name": metric} for number, metric in enumerate(sweeps.METRICS)]
    cold = sweep.sample and [value for value in sweep.values if value.cold_start is not None]
    starts = [f"{sweep.sample.initialization} start", "neighbour"] if cold else []
    return {
        "table": sweeps.sweep_table(sweep),
        "metrics": metrics,
        "quality": sweep_figures.metrics_by_value(f"{name}-quality", sweep.values, sweeps.METRICS),
        "starts": [{"series": number, "name": start} for number, start in enumerate(starts)],
        "steps": sweep_figures.steps_by_value(f"{name}-steps", cold) if cold else None,
    }
