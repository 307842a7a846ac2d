"""The command line: subcommands are functions named after them, in modules that are loaded when one is called."""

import contextlib
import importlib
import os
import sys

import click
from click.shell_completion import CompletionItem

from ovaflow import __version__
from ovaflow.console.errors import InputError
from ovaflow.machine.limits import hold_libraries
from ovaflow.methods import METHODS
from ovaflow.storage.writing import explanation_of

COMMANDS = {
    "train": "From a file of texts and labels to a model and a report.",
    "run": "Run the pipeline: from a config file to the report.",
    "download": "Fetch a public dataset or a file.",
    "prepare": "Turn a dataset's source into dataset.h5.",
    "hold-out": "Set training instances aside, for calibration.",
    "means": "Compute the means that starting points need.",
    "label-tree": "Compute the minimum spanning tree over labels.",
    "root": "Solve the problem without positives.",
    "estimate": "Say what training will take: time, memory, model size.",
    "plan": "Divide the labels into shards of equal work.",
    "train-shard": "Train the labels of one shard.",
    "cold-start": "Measure what starting from an earlier model saves.",
    "merge": "Join trained shards into one model.",
    "prune": "Make a model as small as a number of bytes.",
    "convert": "Bring a model to the npz of SciPy and PECOS, or back.",
    "trace": "Record every iteration of a sample of labels.",
    "predict": "Find the best labels of texts, features or a test set.",
    "calibrate": "Turn scores into probabilities, from held-out instances.",
    "explain": "Say which words push labels up and down.",
    "index": "Write what scores one text at a time quickly.",
    "evaluate": "Compare predictions with the test labels.",
    "serve": "Answer over HTTP, with a page.",
    "calibration-curve": "Measure probabilities and thresholds.",
    "prune-curve": "Measure a model pruned at larger thresholds.",
    "report": "Write the report page.",
    "warm-up": "Compile every kernel once.",
    "benchmark": "Measure the solver.",
    "snakefile": "Print where the workflow's Snakefile is.",
} | {name: command.help for method in METHODS.values() for name, command in method.commands.items()}

_MODULES = {
    "run": ("run", "snakefile"),
    "data": ("download", "prepare", "hold-out"),
    "starting": ("means", "label-tree", "root", "plan"),
    "training": ("train-shard",),
    "trees": ("train-trees", "merge-trees", "tree-curve"),
    "embedding": ("embed", "project", "tune-decoder", "train-decoder", "join-decoder", "describe-embedding"),
    "models": ("merge", "prune", "convert", "index"),
    "samples": ("estimate", "cold-start", "trace", "benchmark"),
    "evaluating": ("evaluate", "calibrate", "calibration-curve", "prune-curve"),
}
"""Where commands are that have no module of their name."""

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


class _LazyGroup(click.Group):
    def list_commands(self, context):
        return list(COMMANDS)

    def get_command(self, context, name):
        if name not in COMMANDS:
            return None
        own = name.replace("-", "_")
        module = next((module for module, names in _MODULES.items() if name in names), own)
        return getattr(importlib.import_module(f"ovaflow.cli.{module}"), f"{own}_command")

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
        status = group.main(arguments, prog_name="ovaflow", standalone_mode=False)
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
        if os.environ.get("OVAFLOW_TRACEBACK"):
            raise
        return _complain_of(error)
    return status or 0


def _complain_of(error):
    name = error.filename or "input/output"
    explanation = explanation_of(error, name)
    if explanation is None:
        return _complain(f"{name}: {error.strerror or error}", 1)
    return _complain(f"{name}: {'; '.join(explanation)}", 2)


def _complain(message, status):
    # the log may be on the disk that is full
    with contextlib.suppress(OSError):
        print(f"ovaflow: error: {message}", file=sys.stderr, flush=True)
    return status
