"""The section on what was chosen on held-out training instances: blocks of features, and C."""

from functools import partial
from pathlib import Path

from ovaflow.report import wording
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.settings.paths import CHOSEN_FEATURES
from ovaflow.storage.texts import read_json

_METRICS = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@3", "PSP@5")


def read_choices(folder, paths):
    """Those of the files that belong to the dataset of a folder: kind and content."""
    own = sorted((path for path in paths if folder in path.resolve().parents), reverse=True)
    kinds = ["features" if path.name == Path(CHOSEN_FEATURES).name else "C" for path in own]
    return [(kind, path.stem, read_json(path, kind)) for kind, path in zip(kinds, own, strict=True)]


def show(anchor, results):
    """A table of the candidates of each choice."""
    return [_view(*choice) for choice in results.choices]


def _view(kind, name, found):
    def row_of(candidate, cells):
        chosen = candidate["candidate"] == found["chosen"]
        return Row(_words(candidate["candidate"]), cells, hint="chosen" if chosen else "")

    columns = (*_quality(found["metric"]), *_COLUMNS)
    # the file of a C is named after the problem that its runs pose
    title = (
        "Features"
        if kind == "features"
        else f"C ({name.partition('-Cauto')[0].removesuffix('-none').replace('-', ' ')})"
    )
    return {
        "title": title,
        "metric": found["metric"],
        "instances": found["instances"],
        "table": make_table(f"Choice of {title}", kind, columns, found["candidates"], row_of),
    }


def _words(candidate):
    return candidate.replace("+", ", ").replace("=", " ") if isinstance(candidate, str) else f"{candidate:g}"


def _quality(metric):
    names = _METRICS if metric in _METRICS else (metric, *_METRICS)
    return [Column(name, partial(_metric, name), wording.percent, best=max) for name in names]


def _metric(name, candidate):
    return candidate["metrics"][name]


def _difference(candidate):
    if not candidate["error"]:
        return ""
    return f"{100 * candidate['difference']:+.1f} ± {200 * candidate['error']:.1f}"


_COLUMNS = (
    Column("difference", _difference, hint="from the chosen one on the same instances, and two standard errors"),
    Column("instances", lambda candidate: candidate["held_out"], wording.count, "tried", "held-out instances"),
    Column("time", lambda candidate: candidate["seconds"], wording.duration, "tried", "processor time"),
)
