"""Runs Snakemake in forks of one process, which has it imported: that takes longer than most dry runs.

With arguments it runs Snakemake itself.
"""

import asyncio
import json
import os
import sys

import snakemake.cli
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

import ovaflow.estimate.demand
import ovaflow.settings.config  # noqa: F401


async def sleep(executor):
    await asyncio.sleep(1)


# the executor for Slurm waits ten seconds longer whenever no job has ended meanwhile
RemoteExecutor.sleep = sleep
if len(sys.argv) > 1:
    snakemake.cli.main()
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()

os.environ.clear()
os.environ.update(asked["environment"])
os.chdir(asked["folder"])
written = os.open(asked["written"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
for descriptor, file in enumerate((os.open(os.devnull, os.O_RDONLY), written, written)):
    os.dup2(file, descriptor)
sys.argv = ["snakemake", *asked["arguments"]]
snakemake.cli.main()
