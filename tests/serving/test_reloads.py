"""A failed reload is reported until a reload works."""

import contextlib
import http.client
import re
import shutil
import signal
from datetime import datetime

import pytest
from running_service import running_service, wait_until

from ovaflow.console.errors import InputError
from ovaflow.serving.failures import describe_error


def read_failure(service) -> tuple[dict | None, float]:
    """Read the failure from /health, and its time from /metrics."""
    pattern = r"^ovaflow_reload_failed_timestamp_seconds (.*)$"
    [since] = re.findall(pattern, service.answer("/metrics"), re.MULTILINE)
    return service.answer("/health")["reload_failed"], float(since)


def try_to_read_failure(service) -> tuple[dict | None, float | None]:
    """Read the failure; the worker that is asked may be ending."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        return read_failure(service)
    return None, None


@pytest.mark.long
def test_the_time_and_the_reason_of_a_failure(models, tmp_path) -> None:
    served = tmp_path / "model.h5"
    kept = tmp_path / "kept.h5"
    shutil.copy(models / "a.h5", served)
    with running_service(tmp_path, served) as service:
        assert read_failure(service) == (None, 0)
        served.rename(kept)
        answers = []
        for number in (1, 2):
            service.process.send_signal(signal.SIGHUP)
            service.wait_for("aborting the restart", times=number)
            wait_until(lambda: try_to_read_failure(service)[1], service)
            answers.append(read_failure(service))
        (health, since), second = answers
        assert second == (health, since), "it fails since it did for the first time"
        assert health["reason"].startswith("model.h5: ")
        assert datetime.fromisoformat(health["since"]).timestamp() == since
        kept.rename(served)
        service.process.send_signal(signal.SIGHUP)
        wait_until(lambda: try_to_read_failure(service) == (None, 0), service)


def test_reasons_have_no_folders() -> None:
    error = InputError("made for /home/me/other.h5", path="../my/model.h5")
    described = describe_error(error, "../my/model.h5", "/home/me/other.h5", None)
    assert described == "model.h5: made for other.h5"
    assert describe_error(ValueError("/home/me")) == "it failed; the log says why"
