"""Requests of jobs, by files with the demand of all labels."""

import os
from dataclasses import replace

import pytest
from commands import ovaflow

from ovaflow.dataset.dataset import open_dataset
from ovaflow.estimate.demand import (
    Demand,
    read_dataset_shape,
    read_demand,
    read_work_shares,
    write_demand,
)
from ovaflow.training.plan import write_plan

DEMAND = Demand(
    core_seconds=36_000, job_seconds=2, job_bytes=10**9, thread_bytes=10**8, result_bytes=8e9
)


@pytest.mark.parametrize(
    ("share", "threads", "pretrained", "megabytes", "seconds"),
    [
        (0, 1, False, 1000 + 100, 2),
        (0.01, 1, False, 1000 + 100 + 80, 362),
        (0.01, 8, False, 1000 + 800 + 80, 47),
        (0.01, 8, True, 1000 + 800 + 2 * 80, 47),
        # joining takes the results twice, when the threads have ended
        (1, 8, False, 1000 + 2 * 8000, 4502),
    ],
)
def test_a_job_requests_its_share_of_all(share, threads, pretrained, megabytes, seconds) -> None:
    asked = DEMAND.request(share, threads, pretrained=pretrained)
    assert asked.mem_mb == pytest.approx(1.25 * megabytes + 200, abs=100)
    assert asked.runtime == pytest.approx(2 * seconds / 60 + 1, abs=1)


def test_demand_and_shares_are_read_from_files(tmp_path) -> None:
    estimate = tmp_path / "estimate.json"
    plan = tmp_path / "shards.tsv"
    for read in (read_demand, read_work_shares, read_dataset_shape):
        with pytest.raises(FileNotFoundError):
            read(plan)
    write_demand(estimate, DEMAND)
    write_plan(plan, [[0, 1], [2], [3]], [3.0, 3.0, 2.0, 2.0])
    assert read_demand(estimate) == DEMAND
    assert read_work_shares(plan) == {0: 0.6, 1: 0.2, 2: 0.2}
    # a file that is written again is read again
    write_demand(estimate, replace(DEMAND, core_seconds=1.0))
    os.utime(estimate, ns=(0, 0))
    assert read_demand(estimate).core_seconds == 1


def test_sizes_of_a_dataset_are_those_of_its_training_instances(path, tmp_path) -> None:
    sizes = tmp_path / "sizes.json"
    held_out = tmp_path / "held-out.h5"
    ovaflow("hold-out", path, f"--sizes={sizes}", f"--output={held_out}")
    train = open_dataset(held_out).train
    theirs = (train.X.n_rows, train.X.n_columns, train.Y.n_columns, len(train.Y.data))
    assert read_dataset_shape(sizes) == theirs
    assert train.X.n_rows < open_dataset(path).train.X.n_rows
