"""Runs that start from others: a sweep becomes one run a value, and each run may name an earlier model."""

import re
from pathlib import Path

from ovaflow.configuration.schema import SweptRun
from ovaflow.console.errors import InputError


def expand_sweeps(settings, path=None):
    """Put one run a value in the place of each sweep, ascending, each starting from the one before.

    Parameters
    ----------
    settings : Settings
    path : path-like, optional
        Of the config file, for messages.

    Returns
    -------
    Settings
        The first run of a sweep starts as the sweep says. A value that is
        added later leaves the runs below it as they are.

    Raises
    ------
    InputError
        If a run of a sweep has the name of another run.
    """
    runs = {}
    for name, run in settings.runs.items():
        for own, entry in _expanded(name, run):
            if own in runs or (own != name and own in settings.runs):
                raise InputError(f"runs.{name}.sweep: makes a run {own}, which has that name already", path=path)
            runs[own] = entry
    return settings.model_copy(update={"runs": runs})


def _expanded(name, run):
    if run.sweep is None:
        return [(name, run)]
    said = run.model_dump(include=run.model_fields_set - {"sweep"})
    cold_start = "mean-separating" if run.initialization == "pretrained" else run.initialization
    beside = {"of": name, "cold_start": cold_start}
    expanded, earlier = [], None
    for C in sorted(run.sweep.C):
        start = {} if earlier is None else {"initialization": "pretrained", "pretrained": earlier}
        earlier = swept_name(name, C)
        expanded.append((earlier, SweptRun.model_validate(said | beside | start | {"C": C})))
    return expanded


def swept_name(name, C):
    """Name of a sweep's run, for folders and addresses.

    Parameters
    ----------
    name : str
        Of the sweep.
    C : float

    Returns
    -------
    str
        Such as ``"msi.C-0.3"``: the shortest digits that mean this number.
    """
    return f"{name}.C-{repr(float(C)).removesuffix('.0').replace('+', '')}"


def sweeps_of(settings):
    """Runs of each sweep.

    Parameters
    ----------
    settings : Settings
        Expanded.

    Returns
    -------
    dict of str to list of str
        Ascending in C.
    """
    sweeps = {}
    for name, run in settings.runs.items():
        if isinstance(run, SweptRun):
            sweeps.setdefault(run.of, []).append(name)
    return sweeps


def warm_runs(settings):
    """Runs of sweeps that start from their neighbour.

    Parameters
    ----------
    settings : Settings
        Expanded.

    Returns
    -------
    list of str
    """
    return [name for runs in sweeps_of(settings).values() for name in runs[1:]]


def earlier_model(settings, dataset, run):
    """The model that a run starts from.

    Parameters
    ----------
    settings : Settings
        Expanded.
    dataset, run : str

    Returns
    -------
    str or None
        Path of a model.h5; None where the run starts otherwise.
    """
    earlier = settings.runs[run].pretrained
    if earlier is None:
        return None
    return f"results/{dataset}/{earlier}/model.h5" if earlier in settings.runs else str(Path(earlier))


def check_chains(settings, path=None):
    """Refuse runs that start from themselves, and runs that start from nothing known.

    Parameters
    ----------
    settings : Settings
        Expanded.
    path : path-like, optional
        Of the config file, for messages.

    Raises
    ------
    InputError
        If runs start from each other in a circle, or a sweep is named where
        one of its runs is meant.
    """
    sweeps = sweeps_of(settings)
    for run, entry in settings.runs.items():
        if entry.pretrained in settings.runs and settings.runs[entry.pretrained].method != entry.method:
            raise InputError(f"runs.{run}.pretrained: {entry.pretrained} has no weights to start from", path=path)
        if entry.pretrained in sweeps:
            names = ", ".join(sweeps[entry.pretrained])
            raise InputError(
                f"runs.{run}.pretrained: {entry.pretrained} is a sweep", path=path, remedy=f"name one of {names}"
            )
        for dataset in settings.datasets:
            circle = _circle(settings, dataset, run)
            if circle:
                raise InputError(f"runs.{run}.pretrained: runs start in a circle: {' from '.join(circle)}", path=path)


def _circle(settings, dataset, run):
    """Runs from this one back to one that was met before; empty where the chain ends."""
    met, place = [], (dataset, run)
    while place is not None:
        if place in met:
            return [run for _, run in [*met[met.index(place) :], place]]
        met.append(place)
        place = made_here(settings, earlier_model(settings, *place))
    return []


def made_here(settings, path):
    """Which dataset and run a model belongs to.

    Parameters
    ----------
    settings : Settings
        Expanded.
    path : str or None
        Of a model.h5.

    Returns
    -------
    (str, str) or None
        None for models from elsewhere.
    """
    match = re.fullmatch(r"results/([^/]+)/([^/]+)/model\.h5", path or "")
    if match and match[1] in settings.datasets and match[2] in settings.runs:
        return match[1], match[2]
    return None
