"""Weeks of an operator, by the commands of the pages: train, correct, retrain, compare, promote, reload, go back."""

import os
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from docs.pages import ROOT, blocks_of
from records import read_records, write_records
from running_service import exchange, running_service

pytestmark = [pytest.mark.workflow, pytest.mark.long, pytest.mark.timeout(900)]

GOOD = ROOT / "docs" / "how-to" / "keep-a-model-good.md"
RUNNING = GOOD.with_name("keep-it-running.md")
TABLE = ROOT / "docs" / "tutorial" / "records.csv"
FEWER_JOBS = "train: {shards: 1}\nreport: {prune_thresholds: []}\npredict: {rerank: 0}\n"
ENDED, GIVEN_UP = "Finished server process", "aborting the restart"
RETRAIN = next(block.code for block in blocks_of(GOOD) if block.code.startswith("flock corrections.jsonl"))


class Place:
    """The operator's folder."""

    def __init__(self, folder, shell):
        self.folder, self._shell = folder, shell
        for block in blocks_of(GOOD):
            if block.title and block.title != "output":
                (folder / block.title).write_text(block.code)
        for config in ("weekly.yaml", "corrected.yaml"):
            with open(folder / config, "a") as file:
                file.write(FEWER_JOBS)
        self.rows = read_records(TABLE)
        write_records(folder / "checked.csv", self.rows[300:])
        (folder / "exports").mkdir()

    def types(self, command, status=0):
        """What a command writes."""
        written = self._shell(command, self.folder, status)
        print(f"$ {command.strip()}\n{written}")
        return written

    @property
    def used(self):
        return os.readlink(self.folder / "models" / "current")

    @property
    def promoted(self):
        return sorted(path.name for path in (self.folder / "models").iterdir() if not path.is_symlink())


class Clients:
    """People who ask all the time; every one of their requests is answered."""

    def __init__(self, service):
        self._service, self._over, self.models = service, threading.Event(), []

    def _ask(self):
        connection = self._service.connect()
        while not self._over.wait(0.02):
            status, _, answer = exchange(connection, "/predict", {"text": "How to train a dragon"})
            assert status == 200, answer
            self.models.append(answer["model"])

    def __enter__(self):
        self._pool = ThreadPoolExecutor(2)
        self._asking = [self._pool.submit(self._ask) for _ in range(2)]
        return self

    def __exit__(self, *_):
        self._over.set()
        self._pool.shutdown()
        for each in self._asking:
            each.result()


def reload(service):
    """The models that answer before a reload and after it."""
    before, ended = service.answer("/health")["model"], service.log.count(ENDED)
    while service.log.count(ENDED) == ended:
        given_up = service.log.count(GIVEN_UP)
        service.process.send_signal(signal.SIGHUP)
        # on a machine that is too busy it waits in vain for the new worker, and keeps the old one
        service.wait_for(f"(?:{ENDED}|{GIVEN_UP})", 120, ended + given_up + 1)
    return before, service.answer("/health")["model"]


def test_weeks(shell, tmp_path):
    place = Place(tmp_path, shell)
    write_records(tmp_path / "exports" / "1.csv", place.rows[:60])
    assert re.search(r"models/current -> \S+: P@1 \d+\.\d %\n", place.types("bash weekly.sh"))
    first = place.used
    corrections = f"--corrections={tmp_path}/corrections.jsonl"
    with (
        running_service(tmp_path, tmp_path / "models" / "current" / "model.h5", corrections) as service,
        Clients(service),
    ):
        known = {label for row in place.rows[:60] for label in row["subjects"].split("; ")} - {""}
        checked = [row for row in place.rows[60:200] if known.issuperset(row["subjects"].split("; "))][:20]
        for row in checked:
            chosen = {"id": row["id"], "text": row["title"], "labels": row["subjects"].split("; "), "suggested": []}
            service.answer("/corrections", chosen)
        write_records(tmp_path / "records.csv", place.rows[:300])
        written = place.types(RETRAIN)
        assert re.search(r"P@1 \S+ % after \S+ %, [+-]\S+ points", written)
        assert len((tmp_path / "week.jsonl").read_text().splitlines()) == len(checked) > 5
        second = place.used
        assert place.promoted == sorted([first, second])
        both = f"--model=models/{first}/model.h5 --model=models/current/model.h5"
        assert "P@1" in place.types(f"ovaflow evaluate checked.csv {both}")
        old, new = reload(service)
        assert (first[-8:], second[-8:]) == (old[:8], new[:8])
        worse = f"ovaflow promote models/{first}/model.h5 --over models/current --on checked.csv --keep 2"
        complaint = r"P@1 \S+ % after \S+ %, -\S+ points .*: more than 2 points less; models/current stays"
        assert re.search(complaint, place.types(worse, 1))
        assert (place.used, place.promoted) == (second, sorted([first, second]))
        place.types(f"bash back.sh {first}")
        assert place.used == first
        assert reload(service) == (new, old)
        again = "ovaflow promote results/catalog/msi/model.h5 --over models/current --on checked.csv --keep 2"
        assert place.types(again).splitlines()[-1] == f"removed models/{second}"
        assert place.promoted == sorted([first, place.used])
        assert reload(service) == (old, new)
        alerts = next(block.code for block in blocks_of(RUNNING) if block.title == "ovaflow-alerts.yaml")
        told = service.answer("/metrics")
        assert all(name in told for name in re.findall(r"ovaflow_\w+", alerts))
