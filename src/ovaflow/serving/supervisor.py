"""The process that watches over the workers."""

import contextlib
import operator
import signal

from uvicorn.supervisors import Multiprocess

from ovaflow.serving import reloads


@contextlib.contextmanager
def _keeping_ctrl_c():
    """Ctrl-C reaches all processes of a terminal; those that begin meanwhile leave it to this one, which ends them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


class Supervisor(Multiprocess):
    """uvicorn's, which also says whether the last reload worked."""

    @_keeping_ctrl_c()
    def init_processes(self):
        super().init_processes()

    @_keeping_ctrl_c()
    def keep_subprocess_alive(self):
        super().keep_subprocess_alive()

    @_keeping_ctrl_c()
    def handle_ttin(self):
        super().handle_ttin()

    @_keeping_ctrl_c()
    def restart_all(self):
        before = list(self.processes)
        reloads.begin()
        super().restart_all()
        reloads.end(not any(map(operator.is_, before, self.processes)))
