"""Settings of runs in words, from the headers of their models and their metrics, and the section that compares them."""

from functools import partial

from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_table

FIRST = ("method", "initialization")
_OF_METRICS = ("top_k", "propensity_a", "propensity_b")


def settings_in_words(parameters, metrics):
    """Nested settings by their innermost names, method and start first; none of features."""
    parameters = parameters | {name: metrics[name] for name in _OF_METRICS if name in metrics}
    values = dict(flatten({name: value for name, value in parameters.items() if name != "transform"}))
    return {name: values[name] for name in (*FIRST, *values) if name in values}


def settings_of_predictions(second_stage, by_probability):
    """Return the settings after training in words: ``second_stage`` is a reliability.json, or None."""
    if second_stage is None:
        return {"rerank": "0"}
    settings = {"rerank": f"{second_stage['fitted']['fraction']:g}"}
    if not second_stage["fitted"].get("unused") and not by_probability:
        settings["optimise"] = "macro-F1"
    return settings


def that_differ(settings):
    """Names of the settings of which some runs have different values, of a dictionary of each run."""
    names = dict.fromkeys(name for each in settings for name in each)
    return [name for name in names if _differs(name, settings)]


def _differs(name, settings):
    """Whether values differ, or a run lacks what another one of its method and start has."""
    having = [each for each in settings if name in each]
    alike = {tuple(map(each.get, FIRST)) for each in having}
    lacking = any(name not in each and tuple(map(each.get, FIRST)) in alike for each in settings)
    return lacking or len({each[name] for each in having}) > 1


def flatten(parameters):
    for name, value in parameters.items():
        if isinstance(value, dict):
            yield from flatten(value)
        elif value is None:
            yield name, "none"
        else:
            yield name, f"{value:g}" if isinstance(value, float) else str(value)


def show_settings(anchor, results):
    runs = results.runs
    names = dict.fromkeys(name for run in runs for name in run.settings)
    varied = [name for name in names if len({_setting(name, run) for run in runs}) > 1]
    columns = [Column(run.name, partial(_setting, run=run)) for run in runs]

    def row_of(name, cells):
        return Row(name.replace("_", " "), cells)

    table = make_table("Settings that differ", "setting", columns, varied, row_of) if varied else None
    shared = [(name.replace("_", " "), _setting(name, runs[0])) for name in names if name not in varied]
    return {"table": table, "shared": shared}


def _setting(name, run):
    return run.settings.get(name, wording.MISSING)


SECTION = ReportSection("settings", "Settings", show_settings, folded=True)
