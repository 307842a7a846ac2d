"""Figures of a sweep."""

from matplotlib.ticker import NullFormatter

from ovaflow.report.drawing import MARKERS, draw, series


def metrics_by_value(name, values, metrics):
    """Metrics of a sweep's runs against C, on a logarithmic axis.

    Parameters
    ----------
    name : str
        Unique on the page.
    values : sequence of Value
    metrics : sequence of str
        One line each, in the colour of its number.

    Returns
    -------
    Drawing
    """

    def paint(axes):
        for number, metric in enumerate(metrics):
            known = [(value.C, 100 * value.run.metrics[metric]) for value in values if metric in value.run.metrics]
            _line_by_value(axes, number, metric, known)
        _value_axis(axes, values)
        axes.set(ylabel="%")
        axes.set_ylim(bottom=0)

    return draw(name, "Metrics by C", paint)


def steps_by_value(name, values):
    """Newton steps of a label from a cold start and from the neighbour, against C.

    Parameters
    ----------
    name : str
        Unique on the page.
    values : sequence of Value
        With cold starts.

    Returns
    -------
    Drawing
    """

    def paint(axes):
        for number, (start, attribute) in enumerate((("cold start", "cold_newton"), ("neighbour", "warm_newton"))):
            _line_by_value(axes, number, start, [(value.C, getattr(value.cold_start, attribute)) for value in values])
        _value_axis(axes, values)
        axes.set(ylabel="Newton steps")
        axes.set_ylim(bottom=0)

    return draw(name, "Newton steps by C", paint)


def _line_by_value(axes, number, name, points):
    x, y = zip(*points, strict=True) if points else ((), ())
    axes.plot(x, y, color=series(number), marker=MARKERS[number], markersize=4.5, linewidth=1.5)
    axes.keep(name, x=x, y=y)


def _value_axis(axes, values):
    axes.set(xscale="log", xlabel="C", xticks=[value.C for value in values])
    axes.set_xticklabels([f"{value.C:g}" for value in values])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", visible=False)
