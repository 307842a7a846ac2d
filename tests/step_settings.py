"""Settings that a step reads from options and from a config file."""

from functools import cache
from typing import Any

import click
from commands import list_words

from ovaflow.cli import group
from ovaflow.cli.options import step_options
from ovaflow.registry import ONE_VS_ALL, find_reads, import_reference

REQUIRED = {"prepare": {"format": "csv"}, "choose-features": {"format": "csv"}}


@cache
def make_step_command(step, method) -> click.Group:
    """Make a group whose only command returns the settings of a step."""

    @click.command(step)
    @step_options(step, method)
    def command(settings):
        return settings

    class OneCommand(type(group)):
        def get_command(self, context, name):
            return command

    return OneCommand()


def parse_options(step, *options, method=ONE_VS_ALL) -> Any:
    """Parse the options of a step to its settings."""
    required = [f"--{name}={value}" for name, value in REQUIRED.get(step, {}).items()]
    words = [step, *required, *list_words(options)]
    return make_step_command(step, method).main(words, "ovaflow", standalone_mode=False)


def validate_config(step, method=ONE_VS_ALL, **values) -> Any:
    """Make the settings of a step from values of a config file."""
    return import_reference(find_reads(step, method).model).model_validate(
        REQUIRED.get(step, {}) | values
    )
