"""The section of the report on label embeddings."""

from collections.abc import Sequence
from typing import Any

from ovaflow.report.drawing import (
    PAGE_COLOURS,
    FigureOfRuns,
    RecordingAxes,
    draw_figures,
    draw_line,
    get_series_colour,
    label_logarithmic_axis,
)
from ovaflow.report.gather import DatasetResults
from ovaflow.report.section import ReportSection
from ovaflow.results.run import Run
from ovaflow.storage.texts import read_json

_DASHES = (0, (4, 4))
"""Line style: dashes and gaps of four points."""


def read(run: Run) -> dict[str, Any] | None:
    """Read the embedding of a run; None for methods without one."""
    path = run.folder / "embedding.json"
    label_names = run.dataset.label_names
    if not path.exists():
        return None
    description = read_json(path, "embedding-description")
    neighbours = []
    for entry in description["neighbours"]:
        nearest = [(label_names[label], cosine) for label, cosine in entry["nearest"]]
        neighbours.append({"label": label_names[entry["label"]], "nearest": nearest})
    return description | {"neighbours": neighbours}


def show(results: DatasetResults) -> dict[str, Any] | None:
    """Return the data of the section; None if no run has an embedding."""
    runs = [run for run in results.shown_runs if run.read(read)]
    if not runs:
        return None
    neighbours = []
    for run in runs:
        entries = run.read(read)["neighbours"]
        if entries:
            neighbours.append((run, entries))
    return {
        "runs": runs,
        "neighbours": neighbours,
        "figures": draw_figures(results.anchor, runs, EMBEDDING_FIGURES),
    }


def _paint_spectrum(axes: RecordingAxes, runs: Sequence[Run]) -> None:
    """Draw the eigenvalues of each run, and of the labels' covariance."""
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="number of the eigenvalue",
        ylabel="eigenvalue / instances",
    )
    for run in runs:
        values = run.read(read)["eigenvalues"]
        draw_line(axes, run, range(1, len(values) + 1), values)
    # runs differ only in how many eigenvalues they computed
    covariance = max((run.read(read)["label_covariance"] for run in runs), key=len)
    numbers = range(1, len(covariance) + 1)
    axes.curve(
        "labels alone",
        numbers,
        covariance,
        color=PAGE_COLOURS["ink"],
        linestyle=_DASHES,
        linewidth=1,
    )
    label_logarithmic_axis(axes.xaxis)
    label_logarithmic_axis(axes.yaxis)


def _paint_error(axes: RecordingAxes, runs: Sequence[Run]) -> None:
    """Draw the error of each run by dimensions of its embedding."""
    for run in runs:
        points = run.read(read)["points"]
        if points:
            ranks = [point["rank"] for point in points]
            errors = [_compute_error(point) for point in points]
            draw_line(axes, run, ranks, errors, f"{run.name}, least squares", marker=None)
        if "P@1" in run.metrics:
            _paint_trained(axes, run, points)
    axes.set(xscale="log", xlabel="dimensions of the embedding", ylabel="100 − P@1, in %")
    label_logarithmic_axis(axes.xaxis)


def _paint_trained(axes: RecordingAxes, run: Run, points: Sequence[dict[str, float]]) -> None:
    """Draw the error of the run itself: a marker at its rank, or a line without an embedding."""
    error = _compute_error(run.metrics.get("first_stage", run.metrics))
    name = f"{run.name}, trained"
    if points:
        draw_line(axes, run, [points[-1]["rank"]], [error], name, markersize=6)
    else:
        colour = get_series_colour(run.series or 0)
        axes.axhline(error, color=colour, linestyle=_DASHES, linewidth=1.3)
        axes.record(name, x=[None], y=[error])


def _compute_error(metrics: dict[str, Any]) -> float:
    """Return 100 - P@1, in %."""
    return 100 - 100 * metrics["P@1"]


EMBEDDING_FIGURES = (
    FigureOfRuns(
        "ranks",
        "Error by dimensions of the embedding",
        "Lines: the first dimensions of the run’s embedding, decoded by least squares without"
        " training; markers: the runs with their trained decoders; dashed: runs without an"
        " embedding"
        " (Rembrandt, fig. 1a).",
        _paint_error,
    ),
    FigureOfRuns(
        "spectrum",
        "Spectrum of the label covariance and of the embeddings",
        "Dashed: spectrum of the labels’ covariance (Rembrandt, fig. 1b). Lines: spectrum of what"
        " each run embedded, for the embedding “rembrandt” the labels as the features predict them."
        " The slower it falls, the more dimensions are useful.",
        _paint_spectrum,
    ),
)

_TEMPLATE = """
{{ gallery(it) }}
{% for run, neighbours in it.neighbours %}
<details{% if loop.first %} open{% endif %}>
<summary>Nearest labels in the embedding of {{ run.name|plain }}</summary>
<p class="note">A sample of the labels, frequent ones first, each with the labels of the most
similar embeddings and their cosines; dimensions are weighted by how much they explain.</p>
<dl class="pairs">
{% for each in neighbours %}
  <div><dt><bdi>{{ each.label|plain(80) }}</bdi></dt><dd>{{ near(each.nearest) }}</dd></div>
{% endfor %}
</dl>
</details>
{% endfor %}
"""

SECTION = ReportSection("embeddings", "Label embeddings", show, _TEMPLATE, folded=True)
