"""The command line.

A subcommand is a function named after it, in a module that is imported when it is called.
"""

import contextlib
import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from ovaflow import __version__, removed
from ovaflow.console.errors import InputError
from ovaflow.console.interrupts import INTERRUPTED_STATUS, print_interrupted, raise_on_interrupt
from ovaflow.machine.limits import limit_library_threads
from ovaflow.registry import all_steps
from ovaflow.storage.writing import explain_write_error

GROUPS = {
    "Commands": [name for name, step in all_steps().items() if step.for_people],
    "Steps of the pipeline": [name for name, step in all_steps().items() if not step.for_people],
}
"""Names of subcommands, as ``ovaflow --help`` lists them."""


class _LazyGroup(click.Group):
    """Subcommands that are imported when they are called."""

    def list_commands(self, context: click.Context) -> list[str]:
        """List the names of subcommands."""
        return list(all_steps())

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import a subcommand; None for an unknown name."""
        if name in removed.REMOVED_COMMANDS:
            raise click.UsageError(f"the command {name} is gone; {removed.REMOVED_COMMANDS[name]}")
        if name not in all_steps():
            return None
        module = importlib.import_module(f"ovaflow.{all_steps()[name].module}")
        return getattr(module, f"{name.replace('-', '_')}_command")

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name, the subcommand and its arguments."""
        name, command, rest = super().resolve_command(context, args)
        assert command is not None
        choose = getattr(command, "for_arguments", None)
        if choose is not None:
            command = choose(rest)
        raise_on_interrupt()
        return name, command, _replace_switches(command, rest)

    def invoke(self, context: click.Context) -> Any:
        """Call the subcommand."""
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            # click would write an empty line
            raise click.Abort from None

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """List completions of a word, without importing subcommands."""
        names = [name for name in all_steps() if name.startswith(incomplete)]
        items = [CompletionItem(name, help=all_steps()[name].help) for name in names]
        return items + click.Command.shell_complete(self, context, incomplete)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of subcommands, by groups."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, all_steps()[name].help) for name in names])


def _replace_switches(command: click.Command, arguments: Sequence[str]) -> list[str]:
    """Replace ``--html=false`` by ``--no-html``: switches may be written as in a config file."""
    opposites: dict[str, str] = {}
    for option in command.params:
        opposites |= dict(zip(option.opts, option.secondary_opts, strict=False))
    return [_replace_switch(each, opposites) for each in arguments]


def _replace_switch(argument: str, opposites: Mapping[str, str]) -> str:
    name, is_given, value = argument.partition("=")
    if not (is_given and name in opposites):
        return argument
    # imported here, since few command lines need it
    from ovaflow.settings.spelling import parse_value

    return {"True": name, "False": opposites[name]}.get(str(parse_value(value)), argument)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ovaflow")
def group() -> None:
    """From raw text to sparse one-vs-all models with very many labels."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 for success, 1 for failure, 2 for a mistake of the user."""
    # before any library is loaded
    limit_library_threads()
    try:
        # commands return nothing, but click returns the status of one that ends with its own
        return group.main(arguments, prog_name="ovaflow", standalone_mode=False) or 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "ovaflow"
        message = _explain_removed_option(error)
        if not message:
            message = " ".join(error.format_message().split()).removesuffix(".")
        return _print_error(f"{message}; see {command} --help", 2)
    except click.ClickException as error:
        return _print_error(error.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        print_interrupted()
        return INTERRUPTED_STATUS
    except InputError as error:
        return _print_error(error, 2)
    except MemoryError:
        return _print_error(
            "out of memory; give the job more memory or lower the number of threads", 1
        )
    except OSError as error:
        name = error.filename or "input/output"
        explanation = explain_write_error(error, name)
        if explanation:
            return _print_error(f"{name}: {'; '.join(explanation)}", 2)
        return _print_error(f"{name}: {error.strerror or error}", 1)


def _explain_removed_option(error: click.UsageError) -> str:
    """Return the replacement of an option that was removed; empty for other mistakes."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return ""
    command = error.ctx.info_name or ""
    instead = removed.REMOVED_OPTIONS.get((command, error.option_name))
    if not instead:
        return ""
    return f"the option {error.option_name} is gone; {instead}"


def _print_error(message: object, status: int) -> int:
    """Print an error in one line; return the status."""
    # the log may be on the disk that is full
    with contextlib.suppress(OSError):
        print(f"ovaflow: error: {message}", file=sys.stderr, flush=True)
    return status
