"""How many shards ``shards: auto`` is: by the size of the training files, which Snakemake knows
before any job runs.
"""

import math
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.estimate.demand import EXPANDING_ENDINGS, read_work_shares
from ovaflow.reading.streams import find_matching_files
from ovaflow.registry import find_method
from ovaflow.settings import paths
from ovaflow.settings.configuration import Config
from ovaflow.settings.section import as_list
from ovaflow.settings.source import is_in_storage

_BYTES = 8e6
"""Bytes of training files for a shard: of texts, some twenty seconds of training."""
_EXPANSION = 3
_MOST = 200
_OTHERWISE = 8
_ELSEWHERE = math.inf


def choose_shard_count(config: Config, dataset: str, run: str) -> int:
    """Shards of a run; no number of cores is asked, since another number of shards trains
    everything again.
    """
    shards = config.train_settings(run).shards
    if shards != "auto":
        return shards
    size = measure_training_bytes(config, dataset)
    plan = Path(paths.PLAN.format(dataset=dataset, run=run))
    if size is None and plan.exists():
        return len(read_work_shares(plan))
    if size in (None, _ELSEWHERE) or not find_method(config.runs[run].method).divided_by_plan:
        return _OTHERWISE
    return min(max(1, math.ceil(size / _BYTES)), _MOST)


def is_small(config: Config, dataset: str, estimate: str) -> bool:
    """Whether one shard would do, so that no estimate is worth its time; without the files, whether
    none was made.
    """
    size = measure_training_bytes(config, dataset)
    return not Path(estimate).exists() if size is None else size <= _BYTES


def measure_training_bytes(config: Config, dataset: str) -> float | None:
    """About the size of the training files when unpacked; infinite of those elsewhere, None where
    they are gone.
    """
    if config.dataset_entry(dataset).source == "builtin":
        return 0.0
    files = paths.find_raw_files(config, dataset.partition("/")[0])
    size = 0.0
    for role in ("train", "extra"):
        for location in as_list(files.get(role, [])):
            if is_in_storage(location) or location.startswith(f"{paths.DOWNLOADS}/"):
                return _ELSEWHERE
            try:
                size += sum(map(_unpacked, find_matching_files(location)))
            except (InputError, FileNotFoundError):
                return None
    return size


def _unpacked(path):
    size = path.stat().st_size
    return _EXPANSION * size if path.name.endswith(EXPANDING_ENDINGS) else size
