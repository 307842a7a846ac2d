"""Configs of one or two tables, and complaints about wrong ones."""

import pytest

from ovaflow.console.errors import InputError
from ovaflow.settings.config import resolve_config
from ovaflow.settings.configuration import Config

MINE_DATASET = {"format": "csv", "train": "a b'c;d.csv.gz", "propensity_a": 0.6}


def make_config(runs=None, mine=MINE_DATASET, **sections) -> Config:
    """Make the settings of some runs on a dataset called mine."""
    return resolve_config({"runs": runs or {"a": {}}} | sections, {"datasets": {"mine": mine}})


def find_config_error(config, defaults=None, path=None) -> str:
    """Return the complaint about a wrong config, which is one line."""
    if defaults is None:
        defaults = {"datasets": {"mine": MINE_DATASET}, "runs": {"msi": {}}}
    with pytest.raises(InputError) as caught:
        resolve_config(config, defaults, path)
    message = str(caught.value)
    assert "\n" not in message
    return message
