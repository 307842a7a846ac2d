"""Figures of benchmarks as aligned text."""

MISSING = "not installed: pip install 'ovaflow[benchmark]'"


def aligned(rows):
    """Rows of text in columns: the first to the left, the others to the right.

    Parameters
    ----------
    rows : list of list of str
        The header first, all of one length; a list with two entries is a row
        whose second entry runs through to the end of the line.

    Returns
    -------
    str
    """
    whole = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(len(row[column]) for row in whole) for column in range(len(rows[0]))]
    widths[0] = max(len(row[0]) for row in rows)
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        if len(row) == len(widths):
            cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        else:
            cells += row[1:]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


PEER_COLUMNS = [
    "method", "labels", "train s", "CPU s", "ms/label", "CPU ms/label", "ratio", "prepare s", "predict s", "peak RSS",
    "model", "P@1", "P@3", "P@5", "objective",
]  # fmt: skip


def peers_table(summary):
    """Table and notes of a comparison.

    Parameters
    ----------
    summary : list of dict
        See :func:`ovaflow.benchmark.comparison.summarise`.

    Returns
    -------
    str
    """
    table = aligned([PEER_COLUMNS] + [_peer_row(row) for row in summary])
    remarks = [f"  {row['method']}: {row['remark']}" for row in summary if row["remark"] and "failure" not in row]
    return "\n".join([table, "", *NOTES, *_threads(summary), "settings that differ:", *remarks])


NOTES = [
    "train, CPU: wall and CPU seconds of training, medians over the rounds; ratio: CPU time a label over ovaflow's of",
    "  the same round; ranges in brackets. prepare: conversion of the data and means, not part of train.",
    "peak RSS: of the process until training ended. model: bytes as the package stores it, for liblinear and",
    "  scikit-learn as sparse float32 weights.",
    "P@k: among the labels trained, over the test instances that carry one of them.",
    "objective: squared hinge with the bias in the norm, before small weights are dropped (a run of its own);",
    "  mean relative difference from ovaflow's, positive: worse.",
]


def _peer_row(row):
    if "failure" in row:
        return [row["method"], MISSING if row["failure"] == "not installed" else row["failure"]]
    difference = row.get("objective_difference")
    return [
        row["method"],
        f"{row['labels']:,}",
        _seconds(row["train_seconds"]),
        _seconds(row["train_cpu_seconds"]),
        f"{row['ms_per_label']:.3g}",
        _ranged(row, "cpu_ms_per_label"),
        _ranged(row, "ratio_to_ovaflow"),
        _seconds(row["prepare_seconds"]),
        _seconds(row["predict_seconds"]),
        f"{row['peak_rss_bytes'] / 1e6:,.0f} MB",
        f"{row['model_bytes'] / 1e6:,.1f} MB",
        *(f"{100 * row[place]:.2f}" for place in ("P@1", "P@3", "P@5")),
        "-" if difference is None else f"{100 * difference:+.3f} %",
    ]


def _seconds(seconds):
    return f"{seconds:.3g}" if seconds < 100 else f"{seconds:,.0f}"


def _ranged(row, name):
    if name not in row:
        return "-"
    text = f"{row[name]:.3g}"
    low, high = row[f"{name}_range"]
    return text if row["rounds"] == 1 else f"{text} [{low:.3g}, {high:.3g}]"


def _threads(summary):
    """What shows that each process used one thread; the CPU time could not exceed the wall time then."""
    done = [row for row in summary if "failure" not in row]
    busiest = max(done, key=lambda row: row["cpu_per_wall"], default=None)
    if busiest is None:
        return []
    largest = max(int(row["threads"]) for row in done)
    return [
        f"threads: largest pool {largest}; CPU over wall time of training at most {busiest['cpu_per_wall']:.2f} "
        f"({busiest['method']})"
    ]


GROWTH_COLUMNS = [
    "of", "size", "nonzeros", "solver", "CPU ms/label", "ms/label", "Newton", "full passes", "on working sets",
]  # fmt: skip


def growth_table(growth):
    """Table of a growth measurement, with the fitted exponents.

    Parameters
    ----------
    growth : dict
        See :func:`ovaflow.benchmark.growth.measure_growth`.

    Returns
    -------
    str
    """
    rows = [
        [
            point["axis"],
            f"{point['size']:,}",
            f"{point['nonzeros']:,}",
            point["solver"],
            f"{point['cpu_ms_per_label']:.3g}",
            f"{point['ms_per_label']:.3g}",
            f"{point['newton_per_label']:.1f}",
            f"{point['full_passes_per_label']:.1f}",
            f"{100 * point['on_working_sets']:.0f} %",
        ]
        for point in growth["points"]
    ]
    lines = [
        f"{fit['solver']}: CPU time a label grows as {fit['axis']}^{fit['exponent']:.2f}" for fit in growth["fits"]
    ]
    return "\n".join([f"{growth['labels']} labels", aligned([GROWTH_COLUMNS, *rows]), "", *lines])


def prediction_table(timings):
    """Table of what finding the best labels takes.

    Parameters
    ----------
    timings : list of ovaflow.benchmark.prediction.Timing

    Returns
    -------
    str
    """
    rows = [["package", "batch ms", "ratio", "single ms", "ratio", "p50 ms", "p99 ms", "same labels"]]
    for timing in timings:
        if timing.failure:
            rows.append([timing.name, MISSING])
            continue
        same = "own model" if timing.same is None else f"{100 * timing.same:.1f} %"
        figures = (timing.batch_ms, timing.batch_ratio, timing.single_ms, timing.single_ratio)
        rows.append([timing.name, *(f"{value:.3g}" for value in (*figures, timing.p50_ms, timing.p99_ms)), same])
    notes = "batch, single: CPU ms an instance, together and one at a time; p50, p99: wall ms of one at a time"
    return f"{aligned(rows)}\n\n{notes}"
