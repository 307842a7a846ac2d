"""Settings of runs in words, from the headers of their models and their metrics."""

from collections.abc import Iterator
from typing import Any

LEADING_SETTINGS = ("method", "initialization")
_OF_METRICS = ("top_k", "propensity_a", "propensity_b")


def describe_settings(parameters: dict[str, Any], metrics: dict[str, Any]) -> dict[str, str]:
    """Name nested settings by their innermost names, method and start first; none of features."""
    parameters = parameters | {name: metrics[name] for name in _OF_METRICS if name in metrics}
    values = dict(
        flatten_settings({name: value for name, value in parameters.items() if name != "transform"})
    )
    return {name: values[name] for name in (*LEADING_SETTINGS, *values) if name in values}


def describe_prediction_settings(
    reliability: dict[str, Any], by_probability: bool
) -> dict[str, str]:
    """Return the settings after training in words; ``reliability`` is empty without a second stage."""
    if not reliability:
        return {"rerank": "0"}
    settings = {"rerank": f"{reliability['fitted']['fraction']:g}"}
    if not reliability["fitted"].get("unused") and not by_probability:
        settings["optimise"] = "macro-F1"
    return settings


def find_differing_settings(settings: list[dict[str, str]]) -> list[str]:
    """Find the settings of which some runs have different values, in a dictionary of each run."""
    names = dict.fromkeys(name for each in settings for name in each)
    return [name for name in names if _differs(name, settings)]


def _differs(name: str, settings: list[dict[str, str]]) -> bool:
    """Tell whether values differ, or a run lacks what another one of its method and start has."""
    having = [each for each in settings if name in each]
    alike = {tuple(map(each.get, LEADING_SETTINGS)) for each in having}
    lacking = any(
        name not in each and tuple(map(each.get, LEADING_SETTINGS)) in alike for each in settings
    )
    return lacking or len({each[name] for each in having}) > 1


def flatten_settings(parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield nested settings as pairs of name and words."""
    for name, value in parameters.items():
        if isinstance(value, dict):
            yield from flatten_settings(value)
        elif value is None:
            yield name, "none"
        else:
            yield name, f"{value:g}" if isinstance(value, float) else str(value)
