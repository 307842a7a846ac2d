"""A folder in which tests run the pipeline."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


class Place:
    """A folder in which Snakemake runs the pipeline."""

    def __init__(self, folder, checkout=ROOT):
        self.folder, self.checkout = folder, checkout

    def command(self, *arguments):
        """Command line of Snakemake here, called as by a user who did not activate the virtual environment."""
        snakefile = str(self.checkout / "Snakefile")
        return [sys.executable, "-m", "snakemake", "--snakefile", snakefile, "--cores", "2", *arguments]

    def environment(self, **variables):
        """Environment of a run: no virtual environment on PATH, ovaflow from the checkout."""
        keep = {key: value for key, value in os.environ.items() if key.startswith(("OVAFLOW_", "HOME", "LANG", "LC_"))}
        return keep | {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(self.checkout / "src")} | variables

    def snakemake(self, *arguments, status=0, configfile="my.yaml", **variables):
        """Run Snakemake, with variables in its environment, and return what it wrote."""
        given = ["--configfile", configfile] if configfile else []
        done = subprocess.run(
            self.command(*arguments, *given),
            cwd=self.folder,
            env=self.environment(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == status, done.stdout
        return done.stdout

    def jobs(self):
        """What a dry run would do: number of jobs by rule, without the rule all."""
        written = self.snakemake("--dry-run")
        if "Nothing to be done" in written:
            return {}
        table = written.split("Job stats:", 1)[1].split("\n\n", 1)[0]
        counts = {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)}
        return {rule: count for rule, count in counts.items() if rule not in ("all", "total")}

    def copy(self, folder, checkout=None):
        """The same place with all results, elsewhere."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Place(folder, checkout or self.checkout)
