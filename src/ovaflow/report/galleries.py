"""Groups of figures with their captions: what to see in each, and which figure of the papers it corresponds to."""

from ovaflow.report import training_figures, weight_figures

BY_POSITIVES = (
    (
        training_figures.newton_by_positives,
        "Newton steps of a label by its training positives, as it was trained: a flat line means that rare labels need "
        "no more steps than frequent ones (mean, and 5 to 95 % of the labels; MSI, fig. 7, left).",
    ),
    (
        training_figures.seconds_by_positives,
        "Time of a label by its training positives, as it was trained; most labels are rare, so the left end decides "
        "(median, and 5 to 95 % of the labels; MSI, fig. 7, right).",
    ),
)
"""Figures of all labels, with captions."""

BY_ITERATION = (
    (
        training_figures.objective,
        "Objective of a label, relative to its optimum, less 1: how far a start is from the solution, and how fast it "
        "gets there (median, and 5 to 95 % of the labels; solved labels stay where they ended; MSI, fig. 1).",
    ),
    (
        training_figures.multiplier,
        "Multiplier that the line search found: below 1 the quadratic model promised more than the objective kept "
        "(mean, and 5 to 95 % of the labels not yet solved; MSI, fig. 3 and 8, right).",
    ),
    (
        training_figures.active,
        "Share of the instances that an iteration looks at, those with curved loss: a good start leaves out the easy "
        "negatives at once (median, and 5 to 95 % of the labels not yet solved; MSI, fig. 4, left, and 6).",
    ),
    (
        training_figures.duration,
        "Processor time of an iteration of the plain solver, which follows the active instances "
        "(median, and 5 to 95 % of the labels not yet solved; MSI, fig. 4, right, and 8, left).",
    ),
    (
        training_figures.traced_newton_by_positives,
        "Newton steps of the sampled labels with the plain solver: what the start alone decides, without working sets "
        "(mean, and 5 to 95 % of the labels; MSI, fig. 7, left).",
    ),
    (
        training_figures.traced_seconds_by_positives,
        "Processor time of the sampled labels with the plain solver "
        "(median, and 5 to 95 % of the labels; MSI, fig. 7, right).",
    ),
)
"""Figures of traced labels, with captions."""

WEIGHTS = (
    (
        weight_figures.histogram,
        "Weights of the sampled labels before (line) and after pruning (filled): most lie near zero and are dropped. "
        "Runs with the same weights, but for a hundredth of them, are drawn once (DiSMEC, fig. 2).",
    ),
)
"""Figures of traced labels' weights, with captions."""

BY_THRESHOLD = (
    (
        weight_figures.precision,
        "P@1 (solid), P@3 (dashed) and P@5 (dotted) of the model pruned further: where the lines are flat, smaller "
        "models are as good (DiSMEC, fig. 5).",
    ),
    (weight_figures.size, "Size of the same models (DiSMEC, fig. 5)."),
)
"""Figures of models pruned further, with captions."""


def draw(anchor, runs, group):
    """Draw a group of figures.

    Parameters
    ----------
    anchor : str
        Of the dataset, for names that are unique on the page.
    runs : list of Run
        Those that have what the figures show.
    group : sequence of (callable, str)
        One of this module's groups.

    Returns
    -------
    dict or None
        ``runs``, and ``figures``: list of (Drawing, caption). None without runs.
    """
    if not runs:
        return None
    figures = [(figure(f"{anchor}.{figure.__name__.replace('_', '-')}", runs), caption) for figure, caption in group]
    return {"runs": runs, "figures": figures}


def join(first, second):
    """Groups of figures that share a legend.

    Parameters
    ----------
    first, second : dict or None
        See :func:`draw`.

    Returns
    -------
    dict or None
    """
    if first is None or second is None:
        return first or second
    runs = sorted({run.series: run for run in [*first["runs"], *second["runs"]]}.values(), key=lambda run: run.series)
    return {"runs": runs, "figures": first["figures"] + second["figures"]}


def show_iterations(anchor, section):
    """Figures of traced labels.

    Parameters
    ----------
    anchor : str
        Of the dataset, for names that are unique on the page.
    section : Section

    Returns
    -------
    dict or None
        None leaves the section out.
    """
    return draw(anchor, [run for run in section.shown if run.details.curves], BY_ITERATION)


def show_weights(anchor, section):
    """Figures of weights and of models pruned further.

    Parameters
    ----------
    anchor : str
        Of the dataset, for names that are unique on the page.
    section : Section

    Returns
    -------
    dict or None
        None leaves the section out.
    """
    return join(
        draw(anchor, [run for run in section.shown if run.details.weights], WEIGHTS),
        draw(anchor, [run for run in section.shown if run.details.pruning], BY_THRESHOLD),
    )
