import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import snakemake.cli
from tiny_table import write_config

import ovaflow

ROOT = Path(__file__).parents[1]
OVAFLOW_COMMAND = [sys.executable, "-P", "-m", "ovaflow"]

SOURCE_FOLDER = Path(ovaflow.__file__).parents[1]
"""Where these tests import ovaflow from: kernels are compiled for each place."""


class PipelineFolder:
    """A folder in which Snakemake runs the pipeline."""

    snakefile = ROOT / "Snakefile"

    def __init__(self, folder) -> None:
        self.folder = folder

    def options(self, *arguments):
        return ["--snakefile", str(self.snakefile), "--cores", "2", *arguments]

    def command(self, *arguments):
        """Command line of Snakemake, called without activating the virtual environment."""
        return [sys.executable, "-m", "snakemake", *self.options(*arguments)]

    def environment(self, **variables):
        """Environment of a run: no virtual environment on PATH."""
        names = ("OVAFLOW_", "HOME", "LANG", "LC_", "TMPDIR")
        kept = {name: value for name, value in os.environ.items() if name.startswith(names)}
        return kept | {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(SOURCE_FOLDER)} | variables

    def configure(self, **sections) -> None:
        """Write the tiny table's config, with some sections replaced."""
        write_config(self.folder / "my.yaml", **sections)

    def result(self, *names):
        """Path of a result of the tiny table."""
        return self.folder.joinpath("results", "tiny", *names)

    def metrics(self, run):
        return json.loads(self.result(run, "metrics.json").read_text())

    def start(self, command, **options):
        """Start a command here."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(
            command, cwd=self.folder, **{"env": self.environment()} | pipes | options
        )

    def run(self, command, status=0, **options):
        """Run a command here and return what it wrote."""
        process = self.start(command, **options)
        written, _ = process.communicate()
        assert process.returncode == status, written
        return written

    def snakemake(self, *arguments, status=0, configfile="my.yaml", **variables):
        """Run Snakemake, with variables in its environment, and return what it wrote."""
        config = ["--configfile", configfile] if configfile else []
        return self.run(
            self.command(*arguments, *config), status, env=self.environment(**variables)
        )

    def ovaflow(self, *arguments, status=0):
        """Run a command of ovaflow as people do and return what it wrote."""
        return self.run([*OVAFLOW_COMMAND, *arguments], status)

    def dry_run(self, *arguments, configfile="my.yaml"):
        """Return what Snakemake writes in a dry run, in this process: most of a run's time is its
        start.
        """
        config = ["--configfile", configfile] if configfile else []
        written = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(written):
            with contextlib.redirect_stderr(written), contextlib.suppress(SystemExit):
                snakemake.cli.main([*self.options("--dry-run", *arguments), *config])
        return written.getvalue()

    def jobs(self, *arguments):
        """Numbers of jobs of a dry run by run and rule; the jobs of the datasets are those of None."""
        return parse_jobs(self.dry_run(*arguments))

    def processes(self):
        """Living processes that work here."""
        found = []
        for process in psutil.process_iter():
            # one that ends meanwhile, or another user's
            with contextlib.suppress(psutil.Error):
                if process.cwd() == str(self.folder) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def running_jobs(self, step=""):
        """Those of them that do steps whose names begin so."""
        found = []
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()[1:5]
                if words[:3] == ["-P", "-m", "ovaflow"] and words[3].startswith(step):
                    found.append(process)
        return found

    def copy(self, folder):
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return type(self)(folder)


def parse_jobs(written):
    """Numbers of jobs that a dry run lists, by run and rule."""
    # those of a group are indented
    rules = re.findall(r"^( *)(?:local)?rule (\w+):\n((?:\1    .*\n)*)", written, re.MULTILINE)
    jobs = {}
    for _, rule, details in rules:
        run = re.search(r"^ +wildcards: .*\brun=([^,\n]+)", details, re.MULTILINE)
        if rule != "all":
            of_run = jobs.setdefault(run and run[1], {})
            of_run[rule] = of_run.get(rule, 0) + 1
    if not jobs:
        assert "Nothing to be done" in written, written
    return jobs
