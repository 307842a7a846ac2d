"""The page on retraining, with the tutorial's table in two exports."""

import os
import re

import pytest
from docs.pages import ROOT, blocks_of
from records import read_records, write_records

pytestmark = [pytest.mark.workflow, pytest.mark.long, pytest.mark.timeout(900)]

TABLE = ROOT / "docs" / "tutorial" / "records.csv"
FEWER_JOBS = "train: {shards: 1}\nreport: {prune_thresholds: []}\npredict: {rerank: 0}\n"


def test_a_worse_model_does_not_replace_the_one_in_use(shell, tmp_path):
    for block in blocks_of(ROOT / "docs" / "how-to" / "keep-a-model-good.md"):
        if block.title:
            (tmp_path / block.title).write_text(block.code)
    with open(tmp_path / "weekly.yaml", "a") as config:
        config.write(FEWER_JOBS)
    rows = read_records(TABLE)
    (tmp_path / "exports").mkdir()
    write_records(tmp_path / "checked.csv", rows[300:])
    models, link = tmp_path / "models", tmp_path / "models" / "current"

    def week(exported):
        write_records(tmp_path / "exports" / "1.csv", exported)
        return shell("bash weekly.sh", tmp_path)

    written = week(rows[:60])
    first = os.readlink(link)
    assert re.search(rf"models/current -> {first}: P@1 \d+\.\d %", written)
    assert re.search(r"P@1 \S+ % after \S+ %, [+-]\S+ points", week(rows[:300]))
    second = os.readlink(link)
    assert sorted(os.listdir(models)) == sorted([first, second, "current"])
    worse = f"ovaflow promote models/{first}/model.h5 --over models/current --on checked.csv"
    complaint = r"P@1 \S+ % after \S+ %, -\S+ points .*: more than 2 points less; models/current stays"
    assert re.search(complaint, shell(worse, tmp_path, 1))
    assert os.readlink(link) == second
    shell(f"bash back.sh {first}", tmp_path)
    assert os.readlink(link) == first
    assert sorted(os.listdir(models))[-1] == "current"
