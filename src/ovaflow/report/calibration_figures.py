"""Figures of runs that are calibrated."""

from ovaflow.report.drawing import MARKERS, NAMED, figure, series


@figure("Share of hits by probability")
def reliability(axes, runs):
    """What came true of the predictions of each probability; the diagonal is ideal."""
    axes.plot((0, 100), (0, 100), color=NAMED["muted"], linestyle=(0, (4, 3)), linewidth=1.1)
    for run in runs:
        ways = run.calibration.probabilities
        for way, style in ((ways[0], (0, (1.5, 1.5))), (ways[-1], "solid")):
            points = [
                (100 * each["probability"], 100 * each["hits"]) for each in way["bins"] if each["predictions"] > 9
            ]
            marker = MARKERS[run.series % len(MARKERS)] if style == "solid" else None
            axes.plot(
                *zip(*points, strict=True), color=series(run.series), linestyle=style, marker=marker, markersize=4
            )
    axes.set(xlabel="probability in %", ylabel="true of these in %", xlim=(-2, 102), ylim=(-2, 102))
