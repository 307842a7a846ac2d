"""Names, paths and separators that a shell or Snakemake would take for commands, patterns or
options.
"""

import re
import shutil

import pytest
from local_server import local_server
from pipeline_folder import ROOT
from tiny_table import write_table

from ovaflow.dataset.dataset import open_dataset

NUMBERS = {"threads", "wildcards.shard", "wildcards.share", "wildcards.fold", "wildcards.folds"}
"""Placeholders that can hold nothing but digits, points, dashes and e; wildcard_constraints see to
it.
"""
QUOTED = {"params.shards"}
"""Quoted where it is made, since the shell expands its braces."""

COMMANDS = """$(touch taken1) `touch taken2` '; touch taken3; "' & touch taken4 | * ? ~ ! # % \\ ../\u00e9e\u0301\u4e2d -x"""
DATASET = "CON.-_x..y" + "Az9-_." * 15
RUN = "_-.-rf" + "0.-e" * 18
COLUMNS = ("--te'xt, $(touch taken5)`touch taken6`\n{x}{{*}}\"", "-l;touch taken7;#\n\t\u202ex")
SEPARATOR = "';$(touch taken8)\"{y}"


def test_every_placeholder_of_a_command_is_quoted() -> None:
    text = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "workflow" / "rules").glob("*.smk")
    )
    commands = re.findall(r"^    shell:\n((?: +\".*\"\n)+)", text, re.MULTILINE)
    assert len(commands) == text.count(" shell:\n") >= 25
    placeholders = re.findall(r"\{([^{}]+)\}", "".join(commands))
    unquoted = {placeholder for placeholder in placeholders if not placeholder.endswith(":q")}
    assert unquoted == NUMBERS | QUOTED
    assert " run:\n" not in text
    assert all(rf'{name}=r"\d+"' in text for name in ("shard", "fold", "folds"))
    assert r'share=r"[\d.e-]+"' in text


@pytest.mark.workflow
@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_nastiest_legal_names_at_once(place) -> None:
    folder = place.folder / COMMANDS.replace("/", "\u2215")
    folder.mkdir()
    write_table(folder / " -rf *.csv", rows=60, separator=SEPARATOR, columns=COLUMNS)
    train = f"{folder.name}/ -rf *.csv"
    test = f"./{folder.name}//../{folder.name}/-t.csv"
    shutil.copy(place.folder / train, folder / "-t.csv")
    columns = {
        "text_column": COLUMNS[:1],
        "labels_column": COLUMNS[1],
        "label_separator": SEPARATOR,
    }
    datasets = {DATASET: {"format": "csv", "train": train, "test": test, **columns, "min_df": 1}}
    quick = {"train": {"shards": 1}, "report": {"examples": 1}}
    place.configure(datasets=datasets, runs={RUN: {"initialization": "zero"}}, **quick)
    place.snakemake()
    dataset = open_dataset(place.folder / "results" / DATASET / "dataset.h5")
    assert dataset.label_names == sorted(f"topic {j}" for j in range(10))
    assert (place.folder / "results" / DATASET / RUN / "metrics.json").exists()
    assert not list(place.folder.rglob("taken*"))
    assert sorted(path.name for path in place.folder.iterdir()) == sorted(
        [".snakemake", "logs", "my.yaml", "records.csv", "results", folder.name]
    )


@pytest.mark.workflow
def test_secrets_of_addresses_are_nowhere(place, monkeypatch) -> None:
    secret = "s3cr3t-Zq9"
    with local_server() as server:
        server.files["/records.csv"] = (place.folder / "records.csv").read_bytes()
        address = server.root + "/records.csv?token=${OVAFLOW_T}"
        datasets = {"tiny": {"format": "csv", "train": address, "label_separator": "|"}}
        place.configure(datasets=datasets)
        monkeypatch.setenv("OVAFLOW_T", secret)
        written = place.snakemake("--printshellcmds", "--verbose", "results/tiny/dataset.h5")
    assert server.asked == [f"/records.csv?token={secret}"]
    assert "token=${OVAFLOW_T}" in written
    files = [path for path in place.folder.rglob("*") if path.is_file()]
    assert any(".snakemake" in path.parts for path in files)
    assert secret not in written + "".join(map(str, files))
    assert not [path for path in files if secret.encode() in path.read_bytes()]
