"""The section on label embeddings (Rembrandt): spectrum, quality by rank, nearest labels."""

from dataclasses import dataclass

from ovaflow.report.drawing import NAMED, draw_all, line, logarithmic, series, side_by_side
from ovaflow.storage.texts import read_json


@dataclass(frozen=True)
class EmbeddingOfRun:
    """What is known of the embedding of a run."""

    eigenvalues: list  # of what was embedded, descending, per instance
    label_covariance: list  # eigenvalues of the labels alone
    points: list  # rank, and P@1, P@3, P@5 of its first dimensions with a decoder by least squares
    neighbours: list  # labels, each with the names and cosines of those nearest to it


def read_embedding(folder, label_names):
    """The embedding of a run, None for methods without one."""
    path = folder / "embedding.json"
    if not path.exists():
        return None
    found = read_json(path, "embedding-description")
    neighbours = [
        (label_names[entry["label"]], [(label_names[label], cosine) for label, cosine in entry["nearest"]])
        for entry in found["neighbours"]
    ]
    return EmbeddingOfRun(found["eigenvalues"], found["label_covariance"], found["points"], neighbours)


def show(anchor, results):
    """Figures, and the runs with their nearest labels."""
    runs = [run for run in results.shown if run.embedding is not None]
    return {"runs": runs, "figures": draw_all(anchor, runs, FIGURES)} if runs else None


def _paint_spectrum(axes, runs):
    axes.set(xscale="log", yscale="log", xlabel="number of the eigenvalue", ylabel="eigenvalue / instances")
    for run in runs:
        values = run.embedding.eigenvalues
        line(axes, run, range(1, len(values) + 1), values)
    # the same for all runs, but for its length
    alone = max((run.embedding.label_covariance for run in runs), key=len)
    axes.plot(range(1, len(alone) + 1), alone, color=NAMED["ink"], linestyle=(0, (4, 4)), linewidth=1)
    axes.keep("labels alone", x=range(1, len(alone) + 1), y=alone)
    logarithmic(axes.xaxis)
    logarithmic(axes.yaxis)


def _paint_error(axes, runs):
    measured = [run for run in runs if run.embedding.points]
    for run in runs:
        if not run.embedding.points and "P@1" in run.metrics:
            axes.axhline(_error(run.metrics), color=series(run.series), linestyle=(0, (4, 4)), linewidth=1.3)
            axes.keep(f"{run.name}, trained", x=[None], y=[_error(run.metrics)])
    for run, at in zip(measured, _apart([run.embedding.points[-1]["rank"] for run in measured]), strict=True):
        ranks = [point["rank"] for point in run.embedding.points]
        line(axes, run, ranks, map(_error, run.embedding.points), f"{run.name}, least squares", marker=None)
        if "P@1" in run.metrics:
            line(axes, run, [at], [_error(run.metrics)], keep=False, markersize=6)
            axes.keep(f"{run.name}, trained", x=ranks[-1:], y=[_error(run.metrics)])
    axes.set(xscale="log", xlabel="dimensions of the embedding", ylabel="100 − P@1, in %")
    logarithmic(axes.xaxis)


def _error(metrics):
    return 100 - 100 * metrics["P@1"]


def _apart(ranks):
    """Where to draw markers: at the rank, side by side where several runs have it."""
    shifts = [side_by_side(ranks.count(rank), 1)[ranks[:number].count(rank)] for number, rank in enumerate(ranks)]
    return [rank * 1.1**shift for rank, shift in zip(ranks, shifts, strict=True)]


FIGURES = (
    (
        "ranks",
        "Error by dimensions of the embedding",
        "Lines: the first dimensions of the run’s embedding, decoded by least squares, which needs no training; "
        "markers: the runs themselves, with their trained decoders, side by side where they have the same rank; "
        "dashed: runs without an embedding (Rembrandt, fig. 1a).",
        _paint_error,
    ),
    (
        "spectrum",
        "Spectrum of the label covariance and of the embeddings",
        "Dashed: spectrum of the labels’ covariance (Rembrandt, fig. 1b). Lines: of what each run embedded; for the "
        "embedding “rembrandt” that of the labels as the features predict them. The slower it falls, the more "
        "dimensions are worth having.",
        _paint_spectrum,
    ),
)
