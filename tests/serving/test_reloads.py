"""A reload that failed is told until one works."""

import shutil
import signal
from datetime import UTC, datetime

from prometheus_client.parser import text_string_to_metric_families
from running_service import running_service

from ovaflow.console.errors import InputError
from ovaflow.serving.failures import shown


def since_by_figures(service):
    families = {each.name: each for each in text_string_to_metric_families(service.answer("/metrics"))}
    [sample] = families["ovaflow_reload_failed_timestamp_seconds"].samples
    return sample.value


def test_since_when_and_why(models, tmp_path):
    served, begun = tmp_path / "model.h5", datetime.now(UTC).replace(microsecond=0)
    shutil.copy(models / "a.h5", served)
    with running_service(tmp_path, served) as service:
        assert (service.answer("/health")["reload_failed"], since_by_figures(service)) == (None, 0)
        served.rename(tmp_path / "kept.h5")
        failures = []
        for number in (1, 2):
            service.process.send_signal(signal.SIGHUP)
            service.wait_for("aborting the restart", times=number)
            failures.append(service.answer("/health")["reload_failed"])
        first, second = failures
        assert first == second, "it fails since it did for the first time"
        assert first["reason"].startswith("model.h5: ")
        assert str(tmp_path) not in first["reason"]
        since = datetime.fromisoformat(first["since"])
        assert begun <= since <= datetime.now(UTC)
        assert int(since_by_figures(service)) == since.timestamp()
        (tmp_path / "kept.h5").rename(served)
        service.process.send_signal(signal.SIGHUP)
        service.wait_for("Finished server process")
        assert (service.answer("/health")["reload_failed"], since_by_figures(service)) == (None, 0)


def test_reasons_have_no_folders(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    for path in ("link/model.h5", tmp_path / "model.h5", "model.h5"):
        error = InputError(f"made for {tmp_path}/other.h5", path=path)
        assert shown(error, [path, None]) == "model.h5: made for other.h5"
    assert shown(ValueError(str(tmp_path)), []) == "it failed; the log says why"
