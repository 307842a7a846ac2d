"""The section on what was chosen on held-out training instances: blocks of features, and C."""

from functools import partial
from pathlib import Path

from ovaflow.report import wording
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.settings.paths import CHOSEN_FEATURES
from ovaflow.storage.texts import read_json

_METRICS = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@3", "PSP@5")


def read_choices(folder, paths):
    """A table of the candidates of each choice whose file is in a dataset's folder."""
    inside = [path for path in paths if folder in path.resolve().parents]
    return [_read(path) for path in sorted(inside, reverse=True)]


def _read(path):
    if path.name == Path(CHOSEN_FEATURES).name:
        kind, title = "features", "Features"
    else:
        # the file of a C is named after the problem that its runs pose
        problem = path.stem.partition("-Cauto")[0].removesuffix("-none").replace("-", " ")
        kind, title = "C", f"C ({problem})"
    comparison = read_json(path, kind)

    def row_of(entry, cells):
        chosen = entry["candidate"] == comparison["chosen"]
        return Row(_words(entry["candidate"]), cells, hint="chosen" if chosen else "")

    columns = [*_quality(comparison["metric"]), *_COLUMNS]
    candidates = comparison["candidates"]
    return {
        "title": title,
        "metric": comparison["metric"],
        "instances": comparison["instances"],
        "table": make_table(f"Choice of {title}", kind, columns, candidates, row_of),
    }


def _words(candidate):
    return candidate.replace("+", ", ").replace("=", " ") if isinstance(candidate, str) else f"{candidate:g}"


def _quality(metric):
    names = _METRICS if metric in _METRICS else (metric, *_METRICS)
    return [Column(name, partial(_metric, name), wording.percent, best=max) for name in names]


def _metric(name, entry):
    return entry["metrics"][name]


def _difference(entry):
    if not entry["error"]:
        return ""
    return f"{100 * entry['difference']:+.1f} ± {200 * entry['error']:.1f}"


_FROM_CHOSEN = "from the chosen one on the same instances, and two standard errors"
_COLUMNS = (
    Column("difference", _difference, hint=_FROM_CHOSEN),
    Column("instances", lambda entry: entry["held_out"], wording.count, "tried", "held-out instances"),
    Column("time", lambda entry: entry["seconds"], wording.duration, "tried", "processor time"),
)
