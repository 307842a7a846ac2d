"""Figures of runs that are calibrated."""

from ovaflow.report.drawing import NAMED, figure, line


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
            x, y = zip(*points, strict=True) if points else ((), ())
            marked = {} if style == "solid" else {"marker": None}
            line(axes, run, x, y, f"{run.name}, {way['name']}", linestyle=style, markevery=1, **marked)
    axes.set(xlabel="probability in %", ylabel="true of these in %", xlim=(-2, 102), ylim=(-2, 102))
