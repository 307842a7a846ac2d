"""Trainings that earlier versions kept in the folders of runs."""

from itertools import product
from pathlib import Path

import h5py

from ovaflow.registry import find_method
from ovaflow.settings import paths
from ovaflow.settings.configuration import Config
from ovaflow.settings.inputs import make_step_settings, name_training
from ovaflow.storage.artifact import read_header
from ovaflow.storage.links import link_folder


def adopt_trainings(config: Config) -> None:
    """Move shards from the folders of runs to those of their trainings, so that none is repeated.

    Shards stay that were trained from another dataset or with other settings.
    """
    datasets = [*config.datasets, *paths.name_derived_datasets(config)]
    for dataset, run in product(datasets, config.runs):
        shards = Path(paths.SHARDS_LINK.format(dataset=dataset, run=run))
        if shards.is_symlink() or not shards.is_dir():
            continue
        name = name_training(config, dataset, run)
        training = Path(paths.TRAINING_FOLDER.format(dataset=dataset, training=name))
        if training.exists() or not _are_of_training(shards, config, dataset, run):
            continue
        training.mkdir(parents=True)
        files = find_method(config.runs[run].method).inputs_of_shards(config, dataset, run)
        for path in map(Path, files.values()):
            earlier = shards.with_name(path.name)
            if earlier.exists() and not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                earlier.rename(path)
        shards.rename(training / shards.name)
        link_folder(training / shards.name, shards)


def _are_of_training(shards: Path, config: Config, dataset: str, run: str) -> bool:
    """Check that shards were trained from a run's dataset, with its settings and this solver."""
    method = find_method(config.runs[run].method)
    settings = make_step_settings("train-shard", config, dataset, run)
    if method.find_revision("train-shard", settings) > 1:
        return False
    shard = next(shards.glob("*.h5"), None)
    data = method.inputs_of_shards(config, dataset, run)["dataset"]
    if shard is None or not Path(data).exists():
        return False
    expected = method.recorded(settings)
    with h5py.File(shard) as trained, h5py.File(data) as source:
        header = read_header(trained)
        if header["inputs"].get("dataset") != read_header(source)["checksum"]:
            return False
    for setting, value in header["parameters"].items():
        # what auto chose is recorded
        if setting in expected and expected[setting] not in (value, "auto"):
            return False
    return True
