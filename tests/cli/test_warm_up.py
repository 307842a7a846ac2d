"""``ovaflow warm-up`` compiles all kernels that the other commands use."""

import os
import subprocess
import sys
import time
from itertools import product

import pytest
from tiny_table import write_named_table

from ovaflow.cli import main, warm_up
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.problem import REGULARIZATIONS
from ovaflow.sparse.jit import cache_directory

PROBLEMS = [f"--problem={loss}/{kind}" for loss, kind in product(LOSSES, REGULARIZATIONS)]
OTHERS = [pytest.param(problem, marks=pytest.mark.long) for problem in PROBLEMS[1:]]

PROGRAM = """
import sys
from ovaflow.cli import main
for line in sys.stdin:
    assert main(line.split()) == 0
"""

JOBS = """
prepare --format=csv --train=records.csv --label-separator=| --output=dataset.h5
means dataset.h5 --output=means.h5
plan dataset.h5 --shards=1 --output=plan.tsv
train-shard dataset.h5 --means=means.h5 --plan=plan.tsv --shard=0 --output=shard.h5
merge shard.h5 --dataset=dataset.h5 --output=model.h5 --statistics=training.h5
predict model.h5 --dataset=dataset.h5 --output=predictions.h5
evaluate predictions.h5 --dataset=dataset.h5 --model=model.h5 --training=training.h5 --output=metrics.json
hold-out dataset.h5 --output=held.h5
means held.h5 --output=means.h5
plan held.h5 --shards=1 --output=plan.tsv
train-shard held.h5 --means=means.h5 --plan=plan.tsv --shard=0 --output=shard.h5
merge shard.h5 --dataset=held.h5 --output=held-model.h5 --statistics=training.h5
predict held-model.h5 --dataset=held.h5 --top-k=50 --output=predictions.h5
rerank model.h5 --dataset=dataset.h5 --held-out=held.h5 --predictions=predictions.h5 --output=reranker.h5
predict model.h5 --dataset=dataset.h5 --output=reranked.h5
explain model.h5 --label=name2
"""


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "option", ["--problem=squared-hinge/l2", "--fastxml", "--rembrandt", "--rerank", *OTHERS]
)
def test_kernels_are_compiled(option, capsys) -> None:
    assert main(["warm-up", option, "--threads=2"]) == 0
    assert f"kernels are compiled: {cache_directory()}" in capsys.readouterr().out
    # once
    assert main(["warm-up", option]) == 0
    assert "compiling" not in capsys.readouterr().err


def test_kernels_of_earlier_versions_go_when_nobody_has_read_them_for_a_month(
    tmp_path, monkeypatch
) -> None:
    days = {
        "kernels-new": (31, 31),
        "kernels-old": (31, 31),
        "kernels-used": (31, 29),
        "mine": (31, 31),
    }
    for name, (written, read) in days.items():
        (tmp_path / name / "solver").mkdir(parents=True)
        (kept := tmp_path / name / "solver" / "newton.nbi").touch()
        ages = tuple(time.time() - 86400 * age for age in (read, written))
        for path in (kept, tmp_path / name):
            os.utime(path, ages)
    monkeypatch.setenv("OVAFLOW_CACHE", str(tmp_path))
    monkeypatch.setattr(warm_up, "cache_directory", lambda: tmp_path / "kernels-new")
    monkeypatch.setattr(warm_up, "_run", lambda chains, threads: None)
    assert main(["warm-up"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == days.keys() - {"kernels-old"}


def test_jobs_compile_none_of_them_again(tmp_path) -> None:
    write_named_table(tmp_path / "records.csv", rows=3000)
    # Numba says what it stores
    environment = os.environ | {"NUMBA_DEBUG_CACHE": "1"}
    command = [sys.executable, "-c", PROGRAM]
    pipes = {"capture_output": True, "text": True, "check": True}
    process = subprocess.run(command, input=JOBS.strip(), cwd=tmp_path, env=environment, **pipes)
    assert "data loaded from" in process.stdout
    assert [line for line in process.stdout.splitlines() if "saved to" in line] == []
    assert "reranker.h5: from " in process.stdout
