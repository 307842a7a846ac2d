"""Settings that a step reads, of options and of a config file."""

from functools import cache

import click

from ovaflow.cli import group
from ovaflow.cli.options import step_options
from ovaflow.registry import ONE_VS_ALL, import_reference
from ovaflow.settings.inputs import find_reads

REQUIRED = {"prepare": {"format": "csv"}, "choose-features": {"format": "csv"}}


@cache
def make_step_command(step, method):
    @click.command(step)
    @step_options(step, method)
    def command(settings):
        return settings

    class OneCommand(type(group)):
        def get_command(self, context, name):
            return command

    return OneCommand()


def parse_options(step, *options, method=ONE_VS_ALL):
    """What a step reads of options."""
    required = [f"--{name}={value}" for name, value in REQUIRED.get(step, {}).items()]
    return make_step_command(step, method).main(
        [step, *required, *options], "ovaflow", standalone_mode=False
    )


def validate_config(step, method=ONE_VS_ALL, **values):
    """What a step reads of a config file."""
    return import_reference(find_reads(step, method).model).model_validate(
        REQUIRED.get(step, {}) | values
    )
