"""The number of shards of ``shards: auto``, by the size of the training files, which Snakemake
knows before any job runs.
"""

import math
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.estimate.demand import EXPANDING_ENDINGS, read_work_shares
from ovaflow.reading.streams import find_matching_files
from ovaflow.registry import find_method
from ovaflow.settings import paths
from ovaflow.settings.configuration import Config
from ovaflow.settings.inputs import name_plan
from ovaflow.settings.section import as_list
from ovaflow.settings.source import is_in_storage

_SHARD_BYTES = 8e6
"""Bytes of training files for a shard: about twenty seconds of training on texts."""
_EXPANSION = 3
"""Size of compressed files when unpacked, as a multiple of their own."""
_MAX_SHARDS = 200
_DEFAULT_SHARDS = 8
"""Number of shards where the size of files is unknown, or the method needs no plan."""
_REMOTE_BYTES = math.inf
"""Size that files elsewhere are taken to have."""


def choose_shard_count(config: Config, dataset: str, run: str) -> int:
    """Choose the number of shards of a run.

    It does not depend on the number of cores: another number of shards trains everything again.
    """
    shards = config.train_settings(run).shards
    if shards != "auto":
        return shards
    if not find_method(config.runs[run].method).divided_by_plan:
        return _DEFAULT_SHARDS
    size = measure_training_bytes(config, dataset)
    plan = Path(paths.PLAN.format(dataset=dataset, plan=name_plan(config, dataset, run)))
    if size is None and plan.exists():
        return len(read_work_shares(plan))
    if size is None or size == _REMOTE_BYTES:
        return _DEFAULT_SHARDS
    return min(max(1, math.ceil(size / _SHARD_BYTES)), _MAX_SHARDS)


def is_small(config: Config, dataset: str, estimate: str) -> bool:
    """Return whether one shard is enough, so that no estimate is worth its time.

    Without the files, the dataset is small if no estimate was made.
    """
    size = measure_training_bytes(config, dataset)
    if size is None:
        return not Path(estimate).exists()
    return size <= _SHARD_BYTES


def measure_training_bytes(config: Config, dataset: str) -> float | None:
    """Measure the approximate size of the training files when unpacked.

    It is infinite for files elsewhere, and None for files that are gone.
    """
    if config.dataset_entry(dataset).source == "builtin":
        return 0.0
    files = paths.find_raw_files(config, dataset.partition("/")[0])
    size = 0.0
    for role in ("train", "extra"):
        for location in as_list(files.get(role, [])):
            if is_in_storage(location) or location.startswith(f"{paths.DOWNLOADS}/"):
                return _REMOTE_BYTES
            try:
                for path in find_matching_files(location):
                    size += _measure_unpacked_bytes(path)
            except (InputError, FileNotFoundError):
                return None
    return size


def _measure_unpacked_bytes(path: Path) -> int:
    size = path.stat().st_size
    return _EXPANSION * size if path.name.endswith(EXPANDING_ENDINGS) else size
