"""The workflow as a module of another one, and from where the workflow catalogue looks for it."""

import json

import pytest
import yaml
from docs.pages import read_blocks
from pipeline_folder import ROOT, PipelineFolder
from tiny_table import TINY_CONFIG, write_table

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

PAGE = ROOT / "docs" / "how-to" / "use-in-another-workflow.md"


class OthersPlace(PipelineFolder):
    snakefile = "Snakefile"


@pytest.fixture
def others(tmp_path):
    place = OthersPlace(tmp_path)
    (written,) = (block.code for block in read_blocks(PAGE) if block.title == "Snakefile")
    (place.folder / "Snakefile").write_text(
        written.replace("your-own-command >", "cp original.csv")
    )
    write_table(place.folder / "original.csv")
    ours = TINY_CONFIG | {"runs": {"msi": {}}, "train": {"shards": 1}}
    (place.folder / "config.yaml").write_text(yaml.safe_dump({"labels": ours}))
    return place


@pytest.mark.long
def test_a_module_runs_to_the_report(others) -> None:
    written = others.snakemake("--logger", "ovaflow", configfile=None)
    assert "\novaflow_train_shard" in written
    assert "localrules" not in written
    metrics = others.folder / "labels/results/tiny/msi/metrics.json"
    assert json.loads(metrics.read_text())["P@1"] > 0.9
    names = {path.name for path in others.folder.iterdir()}
    assert names == {
        ".snakemake",
        "Snakefile",
        "config.yaml",
        "original.csv",
        "records.csv",
        "labels",
    }
    assert (others.folder / "labels/results/report.html").exists()
    assert "Nothing to be done" in others.dry_run(configfile=None)


def test_a_code_in_a_section_of_another_workflow_must_be_in_quotes(others) -> None:
    path = others.folder / "config.yaml"
    config = path.read_text(encoding="utf-8")
    path.write_text(
        config.replace("label_separator:", "exclude: [010]\n      label_separator:"),
        encoding="utf-8",
    )
    assert "datasets.tiny.exclude: YAML takes 010 for a number; put it in quotes" in others.dry_run(
        configfile=None
    )


EVERY_STEP = """
tree: {initialization: label-tree}
negative: {initialization: all-negative}
again: {initialization: pretrained, pretrained: tree, rerank: 0.2}
sweep: {sweep: {C: [1, 2]}}
fastxml: {method: fastxml, trees: 2}
rembrandt: {method: rembrandt, rank: 3}
kernel: {method: rembrandt, rank: 3, features: laplacian, random_features: 50}
"""
DOWNLOADED = """
far: {source: catalogue, name: eurlex-4k}
web: {format: csv, train: https://example.org/a.csv}
"""


def test_every_step_keeps_to_the_prefix(others) -> None:
    config = yaml.safe_load((others.folder / "config.yaml").read_text())
    config["labels"]["runs"] = yaml.safe_load(EVERY_STEP)
    config["labels"]["datasets"] |= yaml.safe_load(DOWNLOADED)
    (others.folder / "config.yaml").write_text(yaml.safe_dump(config))
    written = others.dry_run("--printshellcmds", configfile=None)
    commands = [line for line in written.splitlines() if line.startswith("Shell command: ovaflow ")]
    assert len({line.split()[3] for line in commands}) > 20
    folders = ("results/", "logs/", "downloads/")
    words = " ".join(commands).split()
    paths = [word.rpartition("=")[2].strip("'\"") for word in words]
    assert [path for path in paths if path.startswith(folders)] == []
    assert (
        sum(path.startswith(tuple(f"labels/{folder}" for folder in folders)) for path in paths)
        > 100
    )
