"""Runs that start from others: a sweep becomes one run per value, and a run may name an earlier
model.
"""

from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.settings import paths
from ovaflow.settings.configuration import Config, SweptRun


def expand_sweeps(config: Config, path=None) -> Config:
    """Replace each sweep by one run per value, ascending; those of C start each from the one
    before.
    """
    runs: dict[str, object] = {}
    for name, run in config.runs.items():
        for swept, entry in _expanded(name, run, config.train_settings(name).epsilon):
            if swept in runs or (swept != name and swept in config.runs):
                raise InputError(
                    f"runs.{name}.sweep: the name of its run {swept} is taken", path=path
                )
            runs[swept] = entry
    return config.model_copy(update={"runs": runs})


def _expanded(name, run, epsilon):
    if run.sweep is None:
        return [(name, run)]
    settings = run.model_dump(include=run.model_fields_set - {"sweep"}) | {"of": name}
    expanded = []
    key, values = run.sweep.setting_and_values
    for value in values:
        if expanded and key == "C":
            # a start so near the solution may satisfy the stopping rule before the label has left
            # it
            neighbour = {"initialization": "pretrained", "pretrained": expanded[-1][0]}
            settings |= neighbour | {"epsilon": 0.001 if epsilon == "auto" else epsilon / 10}
        expanded.append(
            (name_swept_run(name, key, value), SweptRun.model_validate(settings | {key: value}))
        )
    return expanded


def name_swept_run(name: str, key: str, value: float) -> str:
    """Name of a sweep's run, such as ``msi.C-0.3``: the shortest digits that mean this number."""
    return f"{name}.{key}-{repr(value).removesuffix('.0').replace('+', '')}"


def group_swept_runs(config: Config) -> dict[str, list[str]]:
    """Runs of each sweep, by ascending values."""
    sweeps: dict[str, list[str]] = {}
    for name, run in config.runs.items():
        if isinstance(run, SweptRun):
            sweeps.setdefault(run.of, []).append(name)
    return sweeps


def find_first_run(config: Config, run: str) -> str:
    return _chain(config, run)[-1]


def _chain(config, run):
    """A run, the run that it starts from, and so on; a circle ends with the run that closes it."""
    chain = [run]
    while (earlier := config.runs[chain[-1]].pretrained) in config.runs and chain[-1] not in chain[
        :-1
    ]:
        chain.append(earlier)
    return chain


def find_earlier_model(config: Config, dataset: str, run: str) -> str | None:
    """Path of the model that a run starts from; None where it starts otherwise."""
    earlier = config.runs[run].pretrained
    if earlier is None:
        return None
    return (
        paths.MODEL.format(dataset=dataset, run=earlier)
        if earlier in config.runs
        else str(Path(earlier))
    )


def check_chains(config: Config, path=None) -> None:
    """Refuse runs that start from themselves, from a whole sweep, or from a model without weights."""
    sweeps = group_swept_runs(config)
    for run, entry in config.runs.items():
        if entry.pretrained in config.runs and config.runs[entry.pretrained].method != entry.method:
            raise InputError(
                f"runs.{run}.pretrained: {entry.pretrained} has no weights to start from", path=path
            )
        if entry.pretrained in sweeps:
            names = ", ".join(sweeps[entry.pretrained])
            remedy = f"name one of {names}"
            raise InputError(
                f"runs.{run}.pretrained: {entry.pretrained} is a sweep", path=path, remedy=remedy
            )
        chain = _chain(config, run)
        if chain[-1] in chain[:-1]:
            circle = " from ".join(chain[chain.index(chain[-1]) :])
            raise InputError(f"runs.{run}.pretrained: runs start in a circle: {circle}", path=path)
