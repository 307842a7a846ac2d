"""The process that watches over the workers."""

import operator
import signal

from uvicorn.supervisors import Multiprocess

from ovaflow.serving import failures

RELOAD_FAILURE = "reload-failed"
START_FAILURE = "start-failed"
"""Failures that are noted: of reloads, and of the last worker that could not begin."""

_SLOW_RELOAD = {"reason": "the new workers were not ready in time; the log says more"}


class Supervisor(Multiprocess):
    """uvicorn's, whose workers Ctrl-C does not reach, and which notes whether the last reload
    worked.
    """

    def run(self) -> None:
        # all processes of a terminal get it, and a worker that begins would die of it with a
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
        if any(map(operator.is_, before, self.processes)):
            failures.record_failure(
                RELOAD_FAILURE, (failures.read_failure(START_FAILURE) or _SLOW_RELOAD)["reason"]
            )
        else:
            failures.clear_failure(RELOAD_FAILURE)
