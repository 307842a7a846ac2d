"""Runs that start from others: a sweep becomes one run per value, and a run may name an earlier
model.
"""

from pathlib import Path

from ovaflow.console.errors import InputError, StrPath
from ovaflow.settings import paths
from ovaflow.settings.configuration import Config, RunEntry, SweptRun


def expand_sweeps(config: Config, path: StrPath | None = None) -> Config:
    """Replace each sweep by one run per value, ascending.

    Runs of a sweep of C each start from the one before.
    """
    runs: dict[str, RunEntry] = {}
    for name, run in config.runs.items():
        for swept, entry in _expand_sweep(name, run, config.train_settings(name).epsilon):
            if swept in runs or (swept != name and swept in config.runs):
                raise InputError(
                    f"runs.{name}.sweep: the name of its run {swept} is taken", path=path
                )
            runs[swept] = entry
    return config.model_copy(update={"runs": runs})


def _expand_sweep(name: str, run: RunEntry, epsilon: float | str) -> list[tuple[str, RunEntry]]:
    """Return the runs of a sweep with their names, or the only run."""
    if run.sweep is None:
        return [(name, run)]
    settings = run.model_dump(include=run.model_fields_set - {"sweep"}) | {"sweep_name": name}
    expanded: list[tuple[str, RunEntry]] = []
    key, values = run.sweep.setting_and_values
    for value in values:
        if expanded and key == "C":
            neighbour, _ = expanded[-1]
            settings["initialization"] = "pretrained"
            settings["pretrained"] = neighbour
            # a start so near the solution may satisfy the stopping rule before the label has left
            # it
            if isinstance(epsilon, str):  # auto
                settings["epsilon"] = 0.001
            else:
                settings["epsilon"] = epsilon / 10
        swept = SweptRun.model_validate(settings | {key: value})
        expanded.append((name_swept_run(name, key, value), swept))
    return expanded


def name_swept_run(name: str, key: str, value: float) -> str:
    """Return the name of a sweep's run, such as ``msi.C-0.3``: the shortest digits that mean this
    number.
    """
    digits = repr(value).removesuffix(".0").replace("+", "")
    return f"{name}.{key}-{digits}"


def group_swept_runs(config: Config) -> dict[str, list[str]]:
    """Return the runs of each sweep, by ascending values."""
    sweeps: dict[str, list[str]] = {}
    for name, run in config.runs.items():
        if isinstance(run, SweptRun):
            sweeps.setdefault(run.sweep_name, []).append(name)
    return sweeps


def find_first_run(config: Config, run: str) -> str:
    """Return the first run of the chain in which each run starts from the one before."""
    return _find_chain(config, run)[-1]


def _find_chain(config: Config, run: str) -> list[str]:
    """Return a run, the run that it starts from, and so on.

    A circle ends with the run that closes it.
    """
    chain = [run]
    earlier = config.runs[run].pretrained
    while earlier in config.runs:
        is_circle = earlier in chain
        chain.append(earlier)
        if is_circle:
            break
        earlier = config.runs[earlier].pretrained
    return chain


def find_earlier_model(config: Config, dataset: str, run: str) -> str | None:
    """Return the path of the model that a run starts from; None if it starts otherwise."""
    earlier = config.runs[run].pretrained
    if earlier is None:
        return None
    if earlier in config.runs:
        return paths.MODEL.format(dataset=dataset, run=earlier)
    return str(Path(earlier))


def check_chains(config: Config, path: StrPath | None = None) -> None:
    """Refuse runs that start from themselves, a whole sweep, or a model without weights."""
    sweeps = group_swept_runs(config)
    for run, entry in config.runs.items():
        earlier = entry.pretrained
        if earlier in config.runs and config.runs[earlier].method != entry.method:
            raise InputError(
                f"runs.{run}.pretrained: {earlier} has no weights to start from", path=path
            )
        if earlier in sweeps:
            remedy = f"name one of {', '.join(sweeps[earlier])}"
            raise InputError(
                f"runs.{run}.pretrained: {earlier} is a sweep", path=path, remedy=remedy
            )
        chain = _find_chain(config, run)
        if chain[-1] in chain[:-1]:
            circle = " from ".join(chain[chain.index(chain[-1]) :])
            raise InputError(f"runs.{run}.pretrained: runs start in a circle: {circle}", path=path)
