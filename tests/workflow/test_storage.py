"""Runs whose files are in storage: a bucket of an S3 server that the tests start."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer
from pipeline_folder import ROOT, PipelineFolder
from tiny_table import TINY_CONFIG, write_table

pytestmark = [pytest.mark.workflow, pytest.mark.long, pytest.mark.timeout(600)]

TABLE = TINY_CONFIG["datasets"]["tiny"] | {"train": "s3://bucket/records.csv"}
KEY = "anybody"
SETTINGS = {"datasets": {"tiny": TABLE}, "runs": {"msi": TINY_CONFIG["runs"]["msi"]}}

# a machine is a folder with nothing in it
SUBMIT = """#!/bin/sh
machine=$(mktemp -d -p "$(dirname "$0")")
mkdir "$machine/work" "$machine/home"
cp "$1" "$machine/script"
(cd "$machine/work"; HOME=$machine/home sh ../script; echo $? > ../status) > "$machine/out" 2>&1 &
echo "$machine"
"""
STATUS = """#!/bin/sh
if ! [ -e "$1/status" ]; then echo running; elif grep -qx 0 "$1/status"; then echo success; else echo failed; fi
"""


class PlaceWithBucket(PipelineFolder):
    """A folder in which Snakemake runs the pipeline with its files in a bucket."""

    def __init__(self, folder, bucket) -> None:
        super().__init__(folder)
        self.bucket = bucket

    def options(self, *arguments):
        storage = ["--default-storage-provider=s3", "--default-storage-prefix=s3://bucket/here"]
        return super().options(*storage, *arguments)

    def environment(self, **variables):
        # jobs on other machines call python
        variables["PATH"] = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        variables["SNAKEMAKE_STORAGE_S3_ENDPOINT_URL"] = self.bucket.meta.client.meta.endpoint_url
        keys = dict.fromkeys(
            ("SNAKEMAKE_STORAGE_S3_ACCESS_KEY", "SNAKEMAKE_STORAGE_S3_SECRET_KEY"), KEY
        )
        return super().environment(**keys, **variables)

    def fetch(self, name):
        self.bucket.download_file(f"here/{name}", self.folder / "fetched")
        return (self.folder / "fetched").read_text()


@pytest.fixture
def place(tmp_path):
    write_table(tmp_path / "records.csv")
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    keys = {"aws_access_key_id": KEY, "aws_secret_access_key": KEY}
    bucket = boto3.resource("s3", endpoint_url=address, region_name="us-east-1", **keys).Bucket(
        "bucket"
    )
    bucket.create()
    bucket.upload_file(tmp_path / "records.csv", "records.csv")
    place = PlaceWithBucket(tmp_path, bucket)
    place.configure(**SETTINGS)
    yield place
    # the servers of a process share their buckets
    bucket.objects.delete()
    server.stop()


def test_a_run_in_storage_looks_like_one_in_a_folder(place) -> None:
    written = place.snakemake()
    assert re.search(r"^train_shard tiny/msi .*  2 jobs$", written, re.MULTILINE)
    assert re.search(r"^predict_labels tiny/msi .*  top 5 of 42 instances", written, re.MULTILINE)
    assert re.search(r"^Done: (\d+) of \1 jobs$", written, re.MULTILINE)
    assert "The report is ready: s3://bucket/here/results/report.html\n" in written
    assert (
        "ovaflow predict model.h5 FILE, in a copy of s3://bucket/here/results/tiny/msi\n" in written
    )
    assert "get a right first label" in place.fetch("results/report.html")
    assert [path.name for path in place.folder.rglob("results/*")] == [".warm-up"]

    assert "Nothing to be done" in place.snakemake()

    table = TABLE | {"text_column": "title"}
    place.configure(**SETTINGS | {"datasets": {"tiny": table}})
    written = place.snakemake(status=2)
    assert "FAILED: prepare_dataset: s3://bucket/here/results/tiny/dataset.h5" in written
    assert "line 1: no column 'title'" in written


def test_jobs_run_on_machines_that_share_no_disk(place, tmp_path) -> None:
    # a file of this machine, which the others do not see
    place.configure(**SETTINGS | {"datasets": {"tiny": TINY_CONFIG["datasets"]["tiny"]}})
    place.snakefile = shutil.copyfile(ROOT / "Snakefile", place.folder / "Snakefile")
    folders = ("workflow", "config", "envs", "profiles")
    for name in folders:
        shutil.copytree(ROOT / name, place.folder / name)
    # Snakemake sends the files that git knows
    for command in (["init", "-q"], ["add", *folders]):
        subprocess.run(["git", *command], cwd=place.folder, check=True)
    machines = tmp_path / "machines"
    machines.mkdir()
    for name, script in {"submit": SUBMIT, "status": STATUS}.items():
        (machines / name).write_text(script)
        (machines / name).chmod(0o755)
    commands = [f"--cluster-generic-{name}-cmd={machines / name}" for name in ("submit", "status")]
    executor = [
        "--executor=cluster-generic",
        *commands,
        "--jobs=2",
        "--seconds-between-status-checks=1",
    ]
    no_disk = ["--shared-fs-usage=none", "--job-deploy-sources"]
    written = place.snakemake(executor, no_disk, "results/tiny/means.h5")
    assert re.search(
        r"^prepare_dataset tiny .*  158 training and 42 test instances", written, re.MULTILINE
    )
    assert re.search(r"^compute_means tiny .*  means of 158 instances", written, re.MULTILINE)
