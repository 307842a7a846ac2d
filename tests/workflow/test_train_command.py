"""``ovaflow train``: the config of one table, and the workflow on it."""

import subprocess
import sys

import pytest
import yaml
from tiny_table import write_table

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]


def train(place, *arguments, status=0):
    done = subprocess.run(
        [sys.executable, "-m", "ovaflow", "train", *arguments],
        cwd=place.folder,
        env=place.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def test_a_table_is_all_that_a_person_needs(place):
    (place.folder / "my.yaml").unlink()
    write_table(place.folder / "records.csv", columns=("title", "subjects"))
    given = ["records.csv", "--text-column=title", "--labels-column=subject", "--label-separator=|", "--cores=2"]
    written = train(place, *given, status=1)
    assert "no column 'subject'" in written
    # the config was nobody's but its own, so it is written anew
    given[2] = "--labels-column=subjects"
    written = train(place, *given, "--until", "plan_shards")
    assert "--model results/records/msi/model.h5 --text" in written
    assert (place.folder / "results/records/msi/shards.tsv").is_file()
    config = place.folder / "records.yaml"
    settings = yaml.safe_load(config.read_text())
    assert settings["datasets"]["records"]["train"] == "records.csv"
    config.write_text(config.read_text().replace("shards: 8", "shards: 2"))
    assert "run what it says: ovaflow run records.yaml" in train(place, *given, status=2)
    assert "shards: 2" in config.read_text()


def test_a_dry_run_leaves_nothing(place):
    (place.folder / "my.yaml").unlink()
    written = train(place, "records.csv", "--label-separator=|", "--dry-run", "--output=elsewhere")
    assert f"train: {place.folder / 'records.csv'}" in written
    assert "train_shard " in written
    assert {path.name for path in place.folder.iterdir()} == {"records.csv", ".snakemake"}
