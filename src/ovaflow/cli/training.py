"""Subcommands that every method has: train a shard, merge shards, estimate what training takes."""

import json
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from ovaflow.cli.options import (
    DATASET_ARGUMENT,
    DATASET_OPTION,
    SHARD_OPTION,
    SHARDS_OPTION,
    STATISTICS_OPTION,
    THREADS_OPTION,
    add_options,
    file_argument,
    file_option,
    method_file_options,
    output_option,
    scratch_option,
    step_options,
)
from ovaflow.dataset.dataset import open_dataset
from ovaflow.estimate.demand import write_demand
from ovaflow.registry import ONE_VS_ALL, find_method, method_names
from ovaflow.training.method import Method


class MethodCommand(click.Command):
    """A command with other options for each ``--method``.

    By itself it is the command of one-vs-all.
    """

    def __init__(self, make: Callable[[Method], click.Command]) -> None:
        self.make = make
        command = self.make_for(ONE_VS_ALL)
        super().__init__(
            command.name, params=command.params, callback=command.callback, help=command.help
        )

    def make_for(self, name: str) -> click.Command:
        """Make the command of a method."""
        text = "How it trains; other methods have other options: see --method=NAME --help."
        command = self.make(find_method(name))
        option = click.Option(
            ["--method"],
            type=click.Choice(method_names()),
            default=name,
            show_default=True,
            expose_value=False,
            help=text,
        )
        command.params.insert(1, option)
        return command

    def for_arguments(self, arguments: Sequence[str]) -> click.Command:
        """Return the command of the method that the arguments name."""
        named = ""
        for word, following in zip_longest(arguments, arguments[1:], fillvalue=""):
            if word == "--method":
                named = following
            elif word.startswith("--method="):
                named = word.removeprefix("--method=")
        if named in method_names():
            return self.make_for(named)
        return self


def _make_train_shard(method: Method) -> click.Command:
    """Make the command train-shard of a method."""

    @click.command("train-shard", help="Train one shard of a model on DATASET (dataset.h5).")
    @DATASET_ARGUMENT
    @method_file_options(method.training_files)
    @SHARD_OPTION
    @add_options([] if method.divided_by_plan else [SHARDS_OPTION])
    @step_options("train-shard", method.name)
    @THREADS_OPTION
    @output_option("Shard file to write.")
    @scratch_option
    def command(
        *,
        dataset: Path,
        shard: int,
        threads: int,
        output: Path,
        settings: Any,
        files: dict[str, Path],
        shards: int | None = None,
    ) -> None:
        from ovaflow.training.shares import train_shard

        if shards is not None and shard >= shards:
            raise click.UsageError(f"shard {shard} of {shards}; the last is {shards - 1}")
        description = train_shard(
            method,
            dataset,
            settings,
            files,
            shard=shard,
            shards=shards,
            threads=threads,
            output=output,
        )
        if description:
            click.echo(description)

    return command


def _make_merge(method: Method) -> click.Command:
    """Make the command merge of a method."""

    @click.command("merge", help="Join trained SHARDS into one model.")
    @file_argument("shards", nargs=-1, required=True)
    @DATASET_OPTION
    @method_file_options(method.merging_files)
    @step_options("merge", method.name)
    @output_option("Model file to write, model.h5.")
    @STATISTICS_OPTION
    @click.option(
        "--link",
        type=click.Path(path_type=Path),
        help="Link to make to the folder of the shards, in place of an earlier one.",
    )
    def command(
        *,
        shards: tuple[Path, ...],
        dataset: Path,
        settings: Any,
        output: Path,
        statistics: Path,
        link: Path | None,
        files: dict[str, Path],
    ) -> None:
        from ovaflow.storage.links import link_folder
        from ovaflow.storage.parts import remove_parts

        opened = open_dataset(dataset)
        description = method.merge(shards, opened, settings, files, output, statistics)
        remove_parts(shards)
        if link is not None:
            link_folder(shards[0].parent, link)
        click.echo(f"{output}: {description}, {output.stat().st_size / 1e6:,.1f} MB")

    return command


def _make_estimate(method: Method) -> click.Command:
    """Make the command estimate of a method."""

    @click.command("estimate", help=_ESTIMATE_HELP)
    @DATASET_ARGUMENT
    @THREADS_OPTION
    @SHARDS_OPTION
    @method_file_options(method.sampling_files)
    @step_options("estimate", method.name)
    @click.option("--json", "as_json", is_flag=True, help="Print one line of JSON instead.")
    @file_option(
        "--output", help="JSON file to write for the workflow; no suggestion is printed then."
    )
    def command(
        *,
        dataset: Path,
        threads: int,
        shards: int,
        settings: Any,
        as_json: bool,
        output: Path | None,
        files: dict[str, Path],
    ) -> None:
        from ovaflow.estimate.sample import sample_in_process
        from ovaflow.estimate.summary import describe_figures, summarize

        if method.sample is None:
            raise click.UsageError(f"{method.name} has no sample to estimate from")
        sample = sample_in_process(method.name, dataset, settings, files)
        if output is not None:
            write_demand(output, sample.demand)
        figures = summarize(sample, dataset, threads, shards, method.unit)
        if as_json:
            click.echo(json.dumps(figures))
            return
        for name, text in describe_figures(figures, method.unit, method.sampled or method.unit):
            # with an output the workflow has chosen jobs and threads, and shows both trainings
            if output is None or name not in ("suggestion", "with rerank"):
                click.echo(f"{name:<12}{text}")

    return command


_ESTIMATE_HELP = """Estimate what training on DATASET (dataset.h5) will take: time, memory and size
of the model.

A random sample of the labels is solved, or one tree is grown, in a separate process, and its cost
is scaled up. ± is the range of 95 of 100 samples. A machine that is busier during the training than
now takes longer.
"""

train_shard_command = MethodCommand(_make_train_shard)
merge_command = MethodCommand(_make_merge)
estimate_command = MethodCommand(_make_estimate)
