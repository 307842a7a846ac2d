"""Configs of a table or two, and what is wrong with them."""

import pytest

from ovaflow.console.errors import InputError
from ovaflow.settings.config import resolve

MINE = {"format": "csv", "train": "a b'c;d.csv.gz", "propensity_a": 0.6}


def made(runs=None, mine=MINE, **sections):
    """Settings of some runs on a dataset called mine."""
    return resolve({"runs": runs or {"a": {}}} | sections, {"datasets": {"mine": mine}})


def complaint(config, defaults=None, path=None):
    """The one line about a config that is wrong."""
    with pytest.raises(InputError) as caught:
        resolve(config, defaults or {"datasets": {"mine": MINE}, "runs": {"msi": {}}}, path)
    message = str(caught.value)
    assert "\n" not in message
    return message
