"""What shards ask for, against the estimate of the whole and against the peaks that jobs had."""

import time

import pytest

from ovaflow.console.errors import InputError
from ovaflow.storage.texts import write_json
from ovaflow.training.plan import write_plan
from ovaflow.training.shard_request import Demand, Part, minutes_of, request_of, shard_request, with_margin

DEMAND = Demand(seconds=36_000, error=0.1, start_seconds=2, weights=1e9, shared_bytes=10**9, thread_bytes=10**8)


def write_estimate(path, demand=DEMAND):
    write_json(path, "estimate", vars(demand))
    return path


def test_a_part_of_the_time_and_of_the_weights():
    ours = request_of(DEMAND, Part(labels=1000, share=0.01), threads=1)
    weights = 8 * 1e9 * 0.01
    assert ours.mem_mb == with_margin(1e9 + max(1e8 + weights, 2 * weights) + 1000 * 1000)
    assert ours.runtime == minutes_of(2 + 36_000 * 1.1 * 0.01 + weights / 150e6)
    assert 12 <= ours.runtime <= 16


@pytest.mark.parametrize("threads", [2, 8])
def test_threads_take_memory_and_save_time(threads):
    one, more = (request_of(DEMAND, Part(1000, 0.01), n) for n in (1, threads))
    assert more.mem_mb - one.mem_mb == pytest.approx(1.25 * (threads - 1) * 100, abs=200)
    assert more.runtime < one.runtime


def test_the_nested_snakemakes_have_room():
    nothing = Demand(0, 0, 0, 0, 0, 0)
    assert request_of(nothing, Part(0, 0.0), 1).mem_mb >= 200
    assert request_of(nothing, Part(0, 0.0), 1).runtime >= 1


def test_from_files(tmp_path):
    write_plan(tmp_path / "shards.tsv", [[0, 1], [2], [3]], [3.0, 3.0, 2.0, 2.0])
    estimate = write_estimate(tmp_path / "estimate.json")
    ours = [shard_request(estimate, tmp_path / "shards.tsv", shard, 1) for shard in range(4)]
    theirs = [request_of(DEMAND, Part(*part), 1) for part in ((2, 0.6), (1, 0.2), (1, 0.2), (0, 0.0))]
    assert ours == theirs


def test_a_file_that_is_written_anew_is_read_anew(tmp_path):
    write_plan(tmp_path / "shards.tsv", [[0]], [1.0])
    before = shard_request(write_estimate(tmp_path / "estimate.json"), tmp_path / "shards.tsv", 0, 1)
    time.sleep(0.01)
    write_estimate(tmp_path / "estimate.json", Demand(**vars(DEMAND) | {"seconds": 72_000}))
    assert shard_request(tmp_path / "estimate.json", tmp_path / "shards.tsv", 0, 1).runtime > 1.8 * before.runtime


def test_what_is_not_there_or_something_else(tmp_path):
    write_plan(tmp_path / "shards.tsv", [[0]], [1.0])
    with pytest.raises(FileNotFoundError):
        shard_request(tmp_path / "estimate.json", tmp_path / "shards.tsv", 0, 1)
    for found in ({}, {"hours": 3}):
        write_json(tmp_path / "estimate.json", "estimate", found)
        time.sleep(0.01)
        with pytest.raises(InputError, match="no estimate"):
            shard_request(tmp_path / "estimate.json", tmp_path / "shards.tsv", 0, 1)
