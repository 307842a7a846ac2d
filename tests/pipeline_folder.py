"""A folder in which Snakemake runs the pipeline on the tiny table."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Self

import psutil
import snakemake.cli
from commands import split_words
from tiny_table import write_config

import ovaflow
from ovaflow.settings.config import load_config, resolve_config
from ovaflow.settings.inputs import name_training

ROOT = Path(__file__).parents[1]
OVAFLOW_COMMAND = [sys.executable, "-P", "-m", "ovaflow"]

SOURCE_FOLDER = Path(ovaflow.__file__).parents[1]
"""Folder from which tests import ovaflow; compiled kernels are cached for each such folder."""


class PipelineFolder:
    """A folder in which Snakemake runs the pipeline."""

    snakefile = ROOT / "Snakefile"

    def __init__(self, folder) -> None:
        self.folder = folder

    def options(self, *arguments) -> list[str]:
        """Options of Snakemake."""
        return ["--snakefile", str(self.snakefile), "--cores", "2", *arguments]

    def command(self, *arguments) -> list[str]:
        """Command line of Snakemake, called without activating the virtual environment."""
        return [sys.executable, "-m", "snakemake", *self.options(*split_words(arguments))]

    def environment(self, **variables) -> dict[str, str]:
        """Environment of a run: no virtual environment on PATH."""
        names = ("OVAFLOW_", "HOME", "LANG", "LC_", "TMPDIR")
        kept = {name: value for name, value in os.environ.items() if name.startswith(names)}
        return kept | {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(SOURCE_FOLDER)} | variables

    def configure(self, **sections) -> None:
        """Write the tiny table's config, with some sections replaced."""
        write_config(self.folder / "my.yaml", **sections)

    def result(self, *names) -> Path:
        """Path of a result of the tiny table."""
        return self.folder.joinpath("results", "tiny", *names)

    def metrics(self, run) -> dict:
        """Read the metrics of a run."""
        return json.loads(self.result(run, "metrics.json").read_text())

    def start(self, command, **options) -> subprocess.Popen:
        """Start a command in the folder."""
        defaults = {
            "cwd": self.folder,
            "env": self.environment(),
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "text": True,
        }
        return subprocess.Popen(command, **defaults | options)

    def run(self, command, status=0, **options) -> str:
        """Run a command in the folder, and return its output."""
        process = self.start(command, **options)
        written, _ = process.communicate()
        assert process.returncode == status, written
        return written

    def snakemake(self, *arguments, status=0, configfile="my.yaml", **variables) -> str:
        """Run Snakemake with variables in its environment, and return its output."""
        config = ["--configfile", configfile] if configfile else []
        return self.run(
            self.command(*arguments, *config), status, env=self.environment(**variables)
        )

    def ovaflow(self, *arguments, status=0) -> str:
        """Run a command of ovaflow in a process of its own, and return its output."""
        return self.run([*OVAFLOW_COMMAND, *split_words(arguments)], status)

    def dry_run(self, *arguments, configfile="my.yaml") -> str:
        """Return the output of a dry run of Snakemake.

        It runs in this process, because most of the time of a process is its start.
        """
        config = ["--configfile", configfile] if configfile else []
        written = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(written):
            with contextlib.redirect_stderr(written), contextlib.suppress(SystemExit):
                snakemake.cli.main([*self.options("--dry-run", *split_words(arguments)), *config])
        return written.getvalue()

    def jobs(self, *arguments) -> dict[str | None, dict[str, int]]:
        """Count the jobs of a dry run by run and rule; jobs of datasets are those of None."""
        jobs = parse_jobs(self.dry_run(arguments))
        for run, trainings in self.name_trainings().items():
            for training in trainings & jobs.keys():
                counts = jobs.setdefault(run, {})
                for rule, count in jobs.pop(training).items():
                    counts[rule] = counts.get(rule, 0) + count
        return jobs

    def name_training(self, run) -> str:
        """Name the training of a run on the only dataset."""
        [training] = self.name_trainings()[run]
        return training

    def name_trainings(self) -> dict[str, set[str]]:
        """Name the trainings of each run of the config."""
        config = resolve_config(
            load_config(self.folder / "my.yaml"), load_config(ROOT / "config/config.yaml")
        )
        trainings = {}
        for run in config.runs:
            names = {name_training(config, dataset, run) for dataset in config.datasets}
            trainings[run] = names
        return trainings

    def processes(self) -> list[psutil.Process]:
        """List the living processes whose current folder is this one."""
        found = []
        for process in psutil.process_iter():
            # a process that ends meanwhile, or of another user
            with contextlib.suppress(psutil.Error):
                if process.cwd() == str(self.folder) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def running_jobs(self, step="") -> list[psutil.Process]:
        """List the processes of steps whose names begin with ``step``."""
        found = []
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()[1:5]
                if words[:3] == ["-P", "-m", "ovaflow"] and words[3].startswith(step):
                    found.append(process)
        return found

    def copy(self, folder) -> Self:
        """Copy the folder."""
        shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True)
        return type(self)(folder)


def parse_jobs(written) -> dict[str | None, dict[str, int]]:
    """Count the jobs in the output of a dry run, by run or training, and rule."""
    # jobs of a group are indented
    rules = re.findall(r"^( *)(?:local)?rule (\w+):\n((?:\1    .*\n)*)", written, re.MULTILINE)
    jobs = {}
    for _, rule, details in rules:
        run = re.search(r"^ +wildcards: .*\b(?:run|training)=([^,\n]+)", details, re.MULTILINE)
        if rule != "all":
            counts = jobs.setdefault(run and run[1], {})
            counts[rule] = counts.get(rule, 0) + 1
    if not jobs:
        assert "Nothing to be done" in written, written
    return jobs
