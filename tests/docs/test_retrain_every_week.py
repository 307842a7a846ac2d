"""The page on retraining, with the tutorial's table in two exports."""

import csv
import json
import os
import re

import pytest
from docs.pages import ROOT, blocks_of

pytestmark = [pytest.mark.workflow, pytest.mark.long, pytest.mark.timeout(900)]

TABLE = ROOT / "docs" / "tutorial" / "records.csv"
FEWER_JOBS = "train: {shards: 1}\nreport: {prune_thresholds: []}\n"


def test_a_worse_model_does_not_replace_the_one_in_use(shell, tmp_path):
    for block in blocks_of(ROOT / "docs" / "how-to" / "retrain-every-week.md"):
        if block.title:
            (tmp_path / block.title).write_text(block.code)
    with open(tmp_path / "weekly.yaml", "a") as config:
        config.write(FEWER_JOBS)
    with open(TABLE, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    (tmp_path / "exports").mkdir()
    script = (tmp_path / "weekly.sh").read_text().replace("$(date +%F)", "$WEEK")
    (tmp_path / "weekly.sh").write_text(script)
    _write(tmp_path / "checked.csv", [head, *rows[300:]])

    def week(name, exported):
        _write(tmp_path / "exports" / "1.csv", [head, *exported])
        return shell("bash weekly.sh", tmp_path, env=shell.environment | {"WEEK": name})

    first = week("first", rows[:300])
    assert first.returncode == 0, first.stdout
    check = json.loads((tmp_path / "models" / "first" / "check.json").read_text())
    assert [model["metrics"]["records"] for model in check["models"]] == 2 * [len(rows) - 300]
    assert os.readlink(tmp_path / "current") == "models/first"
    # an export whose subjects belong to other titles
    others = rows[40:300] + rows[:40]
    second = week("second", [[*one[:2], other[2]] for one, other in zip(rows[:300], others, strict=True)])
    assert second.returncode == 1
    assert re.search(r"P@1 0\.\d+ after 0\.\d+: the old model stays", second.stdout)
    assert os.readlink(tmp_path / "current") == "models/first"


def _write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
