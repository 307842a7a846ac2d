"""The section on training: how many labels were solved, in how many steps, from where."""

from ovaflow.report import figures, galleries, wording
from ovaflow.report.label_trees import tree_table
from ovaflow.report.tables import Column, Table, figure, named_rows


def show(anchor, section):
    """Tables and figures of the section.

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
    solved = [run for run in section.runs if run.training is not None]
    if not solved:
        return None
    shown = [run for run in solved if run.series is not None]
    return {
        "runs": shown,
        "status": status_table(solved),
        "trees": tree_table(section.trees) if section.trees else None,
        "newton": figures.newton_histogram(f"{anchor}.newton", shown) if shown else None,
        "by_positives": galleries.draw(anchor, shown, galleries.BY_POSITIVES),
    }


def status_table(runs):
    """How many labels reached the solver's target in each run.

    Parameters
    ----------
    runs : sequence of Run
        Those with training statistics.

    Returns
    -------
    Table
    """
    columns = [
        Column("reached the target", "labels", "gradient norm at or below the stopping rule's bound"),
        Column("stopped above it", "labels", "the solver gave up before the stopping rule was met"),
        Column("no positives", "labels", "no classifier, never predicted"),
        Column("worst", "|g| / target", "largest ratio over the trained labels"),
        Column("halvings", "line search", "halved steps per label"),
    ]
    rows = []
    for run in runs:
        training = run.training
        counts = (training.reached, training.above, training.untrained)
        cells = [figure(number, wording.count) for number in counts]
        cells += [figure(training.worst_ratio, wording.decimal), figure(training.halvings_per_label, wording.decimal)]
        rows.append(cells)
    return Table("run", columns, named_rows(runs, rows), "Training")
