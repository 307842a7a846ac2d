"""The table of the jobs of a dry run."""

from types import SimpleNamespace

import pytest

from snakemake_logger_plugin_ovaflow.job_table import JobTable, describe_reason

MISSING = "Missing output files: results/a/msi/model.h5"
FOLLOWS = "Input files updated by another job: results/a/dataset.h5"
PARAMS = (
    "Params have changed since last execution: Union of exclusive params before and now across all "
    "output: before: ['--top-k=7', '--prune=0.1'] now: ['--top-k=8'] "
)


def make_job(rule, reason, **wildcards) -> SimpleNamespace:
    return SimpleNamespace(rule_name=rule, reason=reason, wildcards=wildcards)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (MISSING, "not there yet"),
        (f"{MISSING}; {FOLLOWS}", "not there yet"),
        (FOLLOWS, "follows"),
        (f"Updated input files: a.csv, b.csv; {FOLLOWS}", "changed: a.csv, b.csv"),
        (f"{FOLLOWS}; {PARAMS}", "settings changed: --top-k=7, --prune=0.1 to --top-k=8"),
        (
            "Set of input files has changed since last execution",
            "Set of input files has changed since last execution",
        ),
        ("Forced execution", "Forced execution"),
    ],
)
def test_the_reason_of_a_job_is_said_in_a_few_words(reason, expected) -> None:
    assert describe_reason(reason) == expected


def test_jobs_are_counted_by_step_and_reason() -> None:
    table = JobTable()
    table.shared_by = {"training": {"one-vs-all-1": "msi"}}
    for shard in "01":
        table.add(
            make_job("train_shard", MISSING, dataset="a", training="one-vs-all-1", shard=shard)
        )
    for number in range(1, 7):
        table.add(make_job("merge_shards", FOLLOWS, dataset="a", run=f"r{number}"))
    table.add(make_job("merge_shards", PARAMS, dataset="a", run="x"))
    table.add(make_job("write_report", FOLLOWS))
    table.add(make_job("all", FOLLOWS))
    changed = "settings changed: --top-k=7, --prune=0.1 to --top-k=8"
    assert list(table.lines()) == [
        "step          jobs  of                        why",
        "train_shard      2  a/msi                     not there yet",
        "merge_shards     6  a/r1, a/r2, a/r3, 3 more  follows",
        f"merge_shards     1  a/x                       {changed}",
        "write_report     1                            follows",
        "10 jobs would run; --printshellcmds shows each",
    ]


def test_without_jobs_there_is_no_table() -> None:
    assert list(JobTable().lines()) == []
