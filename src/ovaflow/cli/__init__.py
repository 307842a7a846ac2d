"""The command line: subcommands are functions named after them, in modules that are loaded when one is called."""

import contextlib
import importlib
import sys

import click
from click.shell_completion import CompletionItem

from ovaflow import __version__
from ovaflow.console.errors import InputError
from ovaflow.machine.limits import hold_libraries
from ovaflow.methods import METHODS
from ovaflow.storage.writing import explanation_of

_MODULES = {
    "train": ("run", "From a file of texts and labels to a model and a report."),
    "run": ("run", "Run the pipeline: from a config file to the report."),
    "download": ("data", "Fetch a public dataset or a file."),
    "prepare": ("data", "Turn a dataset's source into dataset.h5."),
    "choose-features": ("tuning", "Choose blocks of features on held-out instances."),
    "choose-c": ("tuning", "Choose C on held-out instances."),
    "hold-out": ("data", "Set training instances aside, for calibration."),
    "means": ("training", "Compute the means that starting points need."),
    "label-tree": ("training", "Compute the minimum spanning tree over labels."),
    "root": ("training", "Solve the problem without positives."),
    "estimate": ("samples", "Say what training will take: time, memory, model size."),
    "plan": ("training", "Divide the labels into shards of equal work."),
    "train-shard": ("training", "Train the labels of one shard."),
    "merge": ("models", "Join trained shards into one model."),
    "prune": ("models", "Prune a model to a given size."),
    "convert": ("models", "Convert a model to the npz of SciPy and PECOS, or back."),
    "predict": ("predict", "Find the best labels of texts, features or a test set."),
    "calibrate": ("evaluating", "Turn scores into probabilities, from held-out instances."),
    "explain": ("explain", "Say which words push labels up and down."),
    "index": ("models", "Write an index that makes scoring single texts fast."),
    "evaluate": ("evaluating", "Measure a model on a labelled file, or on the test set."),
    "serve": ("serve", "Answer over HTTP, with a page."),
    "calibration-curve": ("evaluating", "Measure probabilities and thresholds."),
    "prune-curve": ("evaluating", "Measure a model pruned at larger thresholds."),
    "report": ("report", "Write the report page."),
    "warm-up": ("warm_up", "Compile every kernel once."),
    "benchmark": ("samples", "Measure the solver."),
    "clean": ("clean", "List or remove results that a config no longer has."),
    "snakefile": ("run", "Print where the workflow's Snakefile is."),
} | {
    name: (method.replace("-", "_"), command.help)
    for method, family in METHODS.items()
    for name, command in family.commands.items()
}
"""Module and short help of each command; those of a method are in the module of its name."""

COMMANDS = {name: said for name, (_, said) in _MODULES.items()}

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


class _LazyGroup(click.Group):
    def list_commands(self, context):
        return list(COMMANDS)

    def get_command(self, context, name):
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"ovaflow.cli.{_MODULES[name][0]}")
        return getattr(module, f"{name.replace('-', '_')}_command")

    def shell_complete(self, context, incomplete):
        # names alone, without loading the commands
        found = [CompletionItem(name, help=said) for name, said in COMMANDS.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, context, incomplete)

    def format_commands(self, context, formatter):
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ovaflow")
def group():
    """From raw text to sparse one-vs-all models with very many labels."""


def main(arguments=None):
    """Run the command line: 0 done, 1 failed, 2 something given by the user is wrong."""
    # before any library is loaded
    hold_libraries()
    try:
        # what click hands back where a command ends with a status of its own; commands return nothing
        return group.main(arguments, prog_name="ovaflow", standalone_mode=False) or 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "ovaflow"
        message = " ".join(error.format_message().split()).removesuffix(".")
        return _complain(f"{message}; see {command} --help", 2)
    except click.ClickException as error:
        return _complain(error.format_message(), 2)
    except click.Abort:
        return _complain("interrupted", INTERRUPTED)
    except InputError as error:
        return _complain(error, 2)
    except MemoryError:
        return _complain("out of memory; give the job more memory or lower the number of threads", 1)
    except OSError as error:
        name = error.filename or "input/output"
        explanation = explanation_of(error, name)
        said, status = ("; ".join(explanation), 2) if explanation else (error.strerror or error, 1)
        return _complain(f"{name}: {said}", status)


def _complain(message, status):
    # the log may be on the disk that is full
    with contextlib.suppress(OSError):
        print(f"ovaflow: error: {message}", file=sys.stderr, flush=True)
    return status
