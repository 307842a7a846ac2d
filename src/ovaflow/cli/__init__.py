"""The command line: subcommands are functions named after them, in modules that are loaded when one
is called.
"""

import contextlib
import importlib
import sys

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
    def list_commands(self, context):
        return list(all_steps())

    def get_command(self, context, name):
        if name in removed.REMOVED_COMMANDS:
            raise click.UsageError(f"the command {name} is gone; {removed.REMOVED_COMMANDS[name]}")
        if name not in all_steps():
            return None
        module = importlib.import_module(f"ovaflow.{all_steps()[name].module}")
        return getattr(module, f"{name.replace('-', '_')}_command")

    def resolve_command(self, context, args):
        name, command, rest = super().resolve_command(context, args)
        if hasattr(command, "for_arguments"):
            command = command.for_arguments(rest)
        raise_on_interrupt()
        return name, command, _with_switches(command, rest)

    def invoke(self, context):
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            # click would write an empty line
            raise click.Abort from None

    def shell_complete(self, context, incomplete):
        # names alone, without loading the commands
        names = [name for name in all_steps() if name.startswith(incomplete)]
        items = [CompletionItem(name, help=all_steps()[name].help) for name in names]
        return items + click.Command.shell_complete(self, context, incomplete)

    def format_commands(self, context, formatter) -> None:
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, all_steps()[name].help) for name in names])


def _with_switches(command, arguments):
    """Arguments with ``--no-html`` for ``--html=false``, as a config file says it."""
    opposites = {}
    for option in command.params:
        opposites |= dict(zip(option.opts, option.secondary_opts, strict=False))
    return [_switch(each, opposites) for each in arguments]


def _switch(argument, opposites):
    name, is_given, value = argument.partition("=")
    if not (is_given and name in opposites):
        return argument
    # loaded by no other command line
    from ovaflow.settings.spelling import parse_value

    return {"True": name, "False": opposites[name]}.get(str(parse_value(value)), argument)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ovaflow")
def group():
    """From raw text to sparse one-vs-all models with very many labels."""


def main(arguments=None):
    """Run the command line; status 0 is success, 1 failure, 2 a mistake of the user."""
    # before any library is loaded
    limit_library_threads()
    try:
        # what click hands back where a command ends with a status of its own; commands return
        # nothing
        return group.main(arguments, prog_name="ovaflow", standalone_mode=False) or 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "ovaflow"
        message = _replacement(error) or " ".join(error.format_message().split()).removesuffix(".")
        return _complain(f"{message}; see {command} --help", 2)
    except click.ClickException as error:
        return _complain(error.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        print_interrupted()
        return INTERRUPTED_STATUS
    except InputError as error:
        return _complain(error, 2)
    except MemoryError:
        return _complain(
            "out of memory; give the job more memory or lower the number of threads", 1
        )
    except OSError as error:
        name = error.filename or "input/output"
        explanation = explain_write_error(error, name)
        if explanation:
            return _complain(f"{name}: {'; '.join(explanation)}", 2)
        return _complain(f"{name}: {error.strerror or error}", 1)


def _replacement(error):
    """Return what to use instead of an option that is gone; empty for other mistakes."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return ""
    instead = removed.REMOVED_OPTIONS.get((error.ctx.info_name, error.option_name))
    return f"the option {error.option_name} is gone; {instead}" if instead else ""


def _complain(message, status):
    # the log may be on the disk that is full
    with contextlib.suppress(OSError):
        print(f"ovaflow: error: {message}", file=sys.stderr, flush=True)
    return status
