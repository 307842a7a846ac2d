"""Weeks of an operator, by the commands of the pages: train, correct, retrain, compare, promote,
reload, go back.
"""

import contextlib
import os
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from docs.pages import ROOT, read_blocks
from records import read_records, write_records
from running_service import exchange, running_service

pytestmark = [pytest.mark.workflow, pytest.mark.long, pytest.mark.timeout(900)]

GOOD = read_blocks(ROOT / "docs" / "how-to" / "keep-a-model-good.md")
RUNNING = read_blocks(ROOT / "docs" / "how-to" / "keep-it-running.md")
RETRAIN = next(block.code for block in GOOD if block.code.startswith("flock corrections.jsonl"))
ALERTS = next(block.code for block in RUNNING if block.title == "ovaflow-alerts.yaml")
FEWER_JOBS = "train: {shards: 1}\npredict: {rerank: 0}\n"
ENDED = "Finished server process"
GIVEN_UP = "aborting the restart"


@contextlib.contextmanager
def ask_all_the_time(service):
    """Ask all the time, as people do; all are answered."""
    over = threading.Event()

    def ask() -> None:
        connection = service.connect()
        while not over.wait(0.02):
            assert exchange(connection, "/predict", {"text": "How to train a dragon"})[0] == 200

    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(ask) for _ in range(2)]
        try:
            yield
        finally:
            over.set()
    assert [each.exception() for each in asking] == [None, None]


def reload(service):
    """Reload the model; return the beginning of the checksum of the one that answers then."""
    ended = service.log.count(ENDED)
    while service.log.count(ENDED) == ended:
        given_up = service.log.count(GIVEN_UP)
        service.process.send_signal(signal.SIGHUP)
        # on a machine that is too busy it waits in vain for the new worker, and keeps the old one
        service.wait_for(f"{ENDED}|{GIVEN_UP}", 120, ended + given_up + 1)
    return service.answer("/health")["model"][:8]


def test_weeks(shell, tmp_path):
    models = tmp_path / "models"
    rows = read_records(ROOT / "docs" / "tutorial" / "records.csv")

    def run(command, status=0):
        written = shell(command, tmp_path, status)
        print(f"$ {command.strip()}\n{written}")
        return written

    def read_link():
        return os.readlink(models / "current")

    for block in GOOD:
        if block.title:
            (tmp_path / block.title).write_text(
                block.code + FEWER_JOBS * block.title.endswith("yaml")
            )
    write_records(tmp_path / "checked.csv", rows[300:])
    (tmp_path / "exports").mkdir()
    write_records(tmp_path / "exports" / "1.csv", rows[:60])
    assert re.search(r"models/current -> \S+: P@1 \d+\.\d %\n", run("bash weekly.sh"))
    first = read_link()
    corrections = tmp_path / "corrections.jsonl"
    known = set()
    for row in rows[:60]:
        known |= set(row["subjects"].split("; ")) - {""}
    (tmp_path / "left-out.txt").touch()
    options = f"--corrections={corrections}", f"--exclude={tmp_path / 'left-out.txt'}"
    with running_service(tmp_path, models / "current" / "model.h5", *options) as service:
        with ask_all_the_time(service):
            for row in rows[60:80]:
                labels = sorted(known.intersection(row["subjects"].split("; ")))
                service.answer(
                    "/corrections", {"id": row["id"], "text": row["title"], "labels": labels}
                )
            write_records(tmp_path / "records.csv", rows[:300])
            assert re.search(r"P@1 \S+ % after \S+ %, \+\S+ points", run(RETRAIN))
            assert (tmp_path / "week.jsonl").read_text().count("\n") == 20
            second = read_link()
            both = f"--model=models/{first}/model.h5 --model=models/current/model.h5"
            assert "P@1" in run(f"ovaflow evaluate checked.csv {both}")
            assert first.endswith(service.answer("/health")["model"][:8])
            assert second.endswith(reload(service))
            promote = "ovaflow promote {}/model.h5 --over models/current --on checked.csv --keep 2"
            complaint = (
                r"P@1 \S+ % after \S+ %, -\S+ points .*: more than 2 points less; "
                r"models/current stays"
            )
            assert re.search(complaint, run(promote.format(f"models/{first}"), 1))
            assert sorted(os.listdir(models)) == [first, second, "current"]
            run(f"bash back.sh {first}")
            assert read_link() == first
            assert first.endswith(reload(service))
            assert run(promote.format("results/catalog/msi")).endswith(
                f"\nremoved models/{second}\n"
            )
            assert sorted(os.listdir(models)) == [first, read_link(), "current"]
            assert read_link().endswith(reload(service))
        told = service.answer("/metrics")
        assert [name for name in re.findall(r"ovaflow_\w+", ALERTS) if name not in told] == []
