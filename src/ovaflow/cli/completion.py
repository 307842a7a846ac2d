"""``ovaflow completion``."""

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from ovaflow.cli import group
from ovaflow.console.errors import InputError

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def command(shell):
    """Print what makes a shell complete ovaflow's commands, options and files; by default for the shell in $SHELL.

    \b
    bash:  echo 'eval "$(ovaflow completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(ovaflow completion zsh)"' >> ~/.zshrc
    fish:  ovaflow completion fish > ~/.config/fish/completions/ovaflow.fish
    """  # noqa: D301
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise InputError(f"no completion for {shell or 'an unknown shell'}", remedy=f"name one of {', '.join(SHELLS)}")
    click.echo(get_completion_class(shell)(group, {}, "ovaflow", "_OVAFLOW_COMPLETE").source())
