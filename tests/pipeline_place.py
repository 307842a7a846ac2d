"""A folder in which tests run the pipeline."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import ovaflow

ROOT = Path(__file__).parents[1]

SOURCE = Path(ovaflow.__file__).parents[1]
"""Where these tests import ovaflow from: kernels are compiled for each place."""


@cache
def server():
    """The process whose forks run Snakemake on this checkout."""
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-P", str(ROOT / "tests" / "snakemake_server.py")]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


QUICK = ROOT / "tests" / "quick_jobs"


@cache
def job_server():
    """The process whose forks run the jobs of quick runs, as long as this one lives, and its address."""
    environment, command = os.environ | {"PYTHONPATH": str(SOURCE)}, [sys.executable, "-P", str(QUICK / "server.py")]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def quick_jobs():
    """Environment of a run whose jobs are forks of one process."""
    return {"PYTHONPATH": f"{QUICK}{os.pathsep}{SOURCE}", "OVAFLOW_JOBS": job_server()[1]}


class Place:
    """A folder in which Snakemake runs the pipeline."""

    def __init__(self, folder, checkout=ROOT):
        self.folder, self.checkout = folder, checkout

    def command(self, *arguments):
        """Command line of Snakemake here, called as by a user who did not activate the virtual environment."""
        snakefile = str(self.checkout / "Snakefile")
        return [sys.executable, "-m", "snakemake", "--snakefile", snakefile, "--cores", "2", *arguments]

    def quick_snakemake(self, *arguments, **options):
        """The same with jobs that are forks of one process, which saves most of their time."""
        return self.snakemake(*arguments, **options, **quick_jobs())

    def environment(self, **variables):
        """Environment of a run: no virtual environment on PATH."""
        keep = {key: value for key, value in os.environ.items() if key.startswith(("OVAFLOW_", "HOME", "LANG", "LC_"))}
        source = SOURCE if self.checkout == ROOT else self.checkout / "src"
        return keep | {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(source)} | variables

    def snakemake(self, *arguments, status=0, configfile="my.yaml", **variables):
        """Run Snakemake, with variables in its environment, and return what it wrote."""
        given = ["--configfile", configfile] if configfile else []
        command, environment = self.command(*arguments, *given), self.environment(**variables)
        with tempfile.NamedTemporaryFile(suffix=".log") as file:
            if self.checkout == ROOT:
                asked = {"arguments": command[3:], "folder": str(self.folder), "written": file.name}
                print(json.dumps(asked | {"environment": environment}), file=server().stdin, flush=True)
                ended = int(server().stdout.readline())
            else:
                ended = subprocess.run(
                    command, cwd=self.folder, env=environment, stdout=file, stderr=subprocess.STDOUT
                ).returncode
            written = Path(file.name).read_text(encoding="utf-8")
        assert ended == status, written
        return written

    def jobs(self, *arguments):
        """What a dry run would do: numbers of jobs by rule and by run, of which some have none."""
        blocks = re.findall(
            # those of a group are indented
            r"^( *)(?:local)?rule (\w+):\n((?:\1    .*\n)*)",
            self.snakemake("--dry-run", *arguments),
            re.MULTILINE,
        )
        jobs = {}
        for _, rule, details in blocks:
            run = re.search(r"^ +wildcards: .*\brun=([^,\n]+)", details, re.MULTILINE)
            if rule != "all":
                of_run = jobs.setdefault(run and run[1], {})
                of_run[rule] = of_run.get(rule, 0) + 1
        return jobs

    def copy(self, folder, checkout=None):
        """The same place with all results, elsewhere."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Place(folder, checkout or self.checkout)
