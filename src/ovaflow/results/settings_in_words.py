"""Settings of runs in words, from the headers of their models and their metrics."""

from collections.abc import Iterator
from typing import Any

LEADING_SETTINGS = ("method", "initialization")
"""Settings that are listed first."""

# settings of prediction and evaluation that metrics.json records
_SETTINGS_IN_METRICS = ("top_k", "propensity_a", "propensity_b")


def describe_settings(parameters: dict[str, Any], metrics: dict[str, Any]) -> dict[str, str]:
    """Describe the settings of a run, except those of features.

    Parameters
    ----------
    parameters : dict
        Parameters of the model; nested ones are named by their innermost names.
    metrics : dict
        Content of metrics.json.

    Returns
    -------
    dict of str to str
        Values by name; the method and the start come first.
    """
    parameters = {name: value for name, value in parameters.items() if name != "transform"}
    for name in _SETTINGS_IN_METRICS:
        if name in metrics:
            parameters[name] = metrics[name]
    values = dict(flatten_settings(parameters))
    leading = {name: values[name] for name in LEADING_SETTINGS if name in values}
    return leading | values


def describe_prediction_settings(
    reliability: dict[str, Any], *, by_probability: bool
) -> dict[str, str]:
    """Describe the settings after training.

    Parameters
    ----------
    reliability : dict
        Content of reliability.json; empty without a second stage.
    by_probability : bool
        Whether the most probable labels are predicted, instead of those for macro-F1.
    """
    if not reliability:
        return {"rerank": "0"}
    settings = {"rerank": f"{reliability['fitted']['fraction']:g}"}
    if not reliability["fitted"].get("unused") and not by_probability:
        settings["optimise"] = "macro-F1"
    return settings


def find_differing_settings(settings: list[dict[str, str]]) -> list[str]:
    """Find the settings that differ between runs, given those of each run."""
    names: dict[str, None] = {}
    for run_settings in settings:
        names |= dict.fromkeys(run_settings)
    return [name for name in names if _differs(name, settings)]


def _differs(name: str, settings: list[dict[str, str]]) -> bool:
    """Return True if values differ, or a run lacks a setting of its own method and start."""
    values = set()
    leading_values = set()
    for run_settings in settings:
        if name in run_settings:
            values.add(run_settings[name])
            leading_values.add(_get_leading_values(run_settings))
    for run_settings in settings:
        if name not in run_settings and _get_leading_values(run_settings) in leading_values:
            return True
    return len(values) > 1


def _get_leading_values(settings: dict[str, str]) -> tuple[str | None, ...]:
    return tuple(settings.get(name) for name in LEADING_SETTINGS)


def flatten_settings(parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield nested settings as pairs of innermost name and words.

    Entries that are named by a number, such as losses by C, have the name above it, too.
    """
    for name, value in parameters.items():
        if isinstance(value, dict):
            for inner_name, words in flatten_settings(value):
                if inner_name[:1].isdigit():
                    inner_name = f"{name} {inner_name}"
                yield inner_name, words
        elif value is None:
            yield name, "none"
        elif isinstance(value, float):
            yield name, f"{value:g}"
        else:
            yield name, str(value)
