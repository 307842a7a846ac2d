"""The process that watches the workers."""

import signal

from uvicorn.supervisors import Multiprocess

from ovaflow.serving import failures

RELOAD_FAILURE = "reload-failed"
"""Record of a reload that failed."""
START_FAILURE = "start-failed"
"""Record of the last worker that could not start."""

_SLOW_RELOAD = "the new workers were not ready in time; the log says more"


class Supervisor(Multiprocess):
    """uvicorn's supervisor; it keeps Ctrl-C from the workers and records failed reloads."""

    def run(self) -> None:
        # all processes of a terminal receive it, and a worker that starts would end with a
        # traceback
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        super().run()

    def handle_signals(self) -> None:
        if signal.SIGINT in signal.sigpending():
            self.handle_int()
        super().handle_signals()

    def restart_all(self) -> None:
        before = list(self.processes)
        failures.clear_failure(START_FAILURE)
        super().restart_all()
        # uvicorn keeps the old process where the new one did not become ready
        is_kept = any(old is new for old, new in zip(before, self.processes, strict=False))
        if not is_kept:
            failures.clear_failure(RELOAD_FAILURE)
            return
        start_failure = failures.read_failure(START_FAILURE)
        reason = _SLOW_RELOAD if start_failure is None else start_failure["reason"]
        failures.record_failure(RELOAD_FAILURE, reason)
