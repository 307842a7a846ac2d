"""Runs of ovaflow in MLflow and DVC, by the commands of the page, if their programs are named.

``OVAFLOW_MLFLOW`` is a Python that has MLflow or mlflow-skinny, ``OVAFLOW_DVC`` the program
``dvc``.
"""

import os
from pathlib import Path

import pytest
from docs.pages import ROOT, read_blocks

PAGE = ROOT / "docs" / "how-to" / "track-runs.md"


def find_program(name) -> str:
    path = os.environ.get(name)
    if not path:
        pytest.skip(f"{name} is not set: WHAT {PAGE.name} SAYS OF IT IS NOT TRIED")
    return path


@pytest.fixture
def place(finished, tmp_path):
    """A finished run, and the files of the page."""
    place = finished.copy(tmp_path / "place")
    for block in read_blocks(PAGE):
        if block.title:
            (place.folder / block.title).write_text(block.code.replace("catalog", "tiny"))
    return place


def test_mlflow_has_the_figures(place, shell) -> None:
    store = {"MLFLOW_TRACKING_URI": "file:mlruns", "MLFLOW_ALLOW_FILE_STORE": "true"}
    shell(f"{find_program('OVAFLOW_MLFLOW')} track.py", place.folder, **store)
    (kept,) = place.folder.glob("mlruns/*/*/metrics")
    figures = {path.name: float(path.read_text().split()[1]) for path in kept.iterdir()}
    assert figures["P at 1"] == place.metrics("msi")["P@1"]
    assert len(figures) > 20
    assert len(list(kept.parent.glob("artifacts/metrics.json"))) == 1


def test_dvc_compares_figures(place, shell) -> None:
    tools = f"{Path(find_program('OVAFLOW_DVC')).parent}:{shell.environment['PATH']}"
    variables = {"PATH": tools}
    for who in ("AUTHOR", "COMMITTER"):
        variables[f"GIT_{who}_NAME"] = "someone@example.org"
        variables[f"GIT_{who}_EMAIL"] = "someone@example.org"
    shown = shell(
        "git init --quiet && dvc init --quiet && source ./first.sh", place.folder, **variables
    )
    first = place.metrics("msi")
    assert f"{first['P@1']:.5g}" in shown
    place.configure(train={"prune": 0.3, "shards": 2})
    compared = shell("source ./second.sh", place.folder, **variables)
    second = place.metrics("msi")
    (row,) = [line for line in compared.splitlines() if "| nonzeros " in line]
    assert [int(cell) for cell in row.split("|")[3:6]] == [
        first["nonzeros"],
        second["nonzeros"],
        second["nonzeros"] - first["nonzeros"],
    ]
