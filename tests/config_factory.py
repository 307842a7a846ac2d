"""Configs of a table or two, and what is wrong with them."""

import pytest

from ovaflow.console.errors import InputError
from ovaflow.settings.config import resolve_config

MINE_DATASET = {"format": "csv", "train": "a b'c;d.csv.gz", "propensity_a": 0.6}


def make_config(runs=None, mine=MINE_DATASET, **sections):
    """Settings of some runs on a dataset called mine."""
    return resolve_config({"runs": runs or {"a": {}}} | sections, {"datasets": {"mine": mine}})


def find_config_error(config, defaults=None, path=None):
    """The one line about a config that is wrong."""
    with pytest.raises(InputError) as caught:
        resolve_config(
            config, defaults or {"datasets": {"mine": MINE_DATASET}, "runs": {"msi": {}}}, path
        )
    message = str(caught.value)
    assert "\n" not in message
    return message
