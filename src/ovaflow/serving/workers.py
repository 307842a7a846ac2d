"""The processes of the service: one that watches, and workers that answer.

The model is opened before the workers are forked, so they share all of it, and
they accept from one socket, so a connection is never lost with the worker that
it did not reach yet.
"""

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
import time

import uvicorn

from ovaflow.console.errors import InputError

BACKLOG = 2048

_WATCHED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}
_HASTY_SECONDS, _HASTY_DEATHS = 5.0, 5


def bind(host, port, unix_socket=None):
    """Take the address, so that a wrong one is refused before anything is loaded; nobody can connect yet.

    Parameters
    ----------
    host : str
    port : int
        0: a free one.
    unix_socket : path-like, optional
        Instead of host and port.

    Returns
    -------
    socket.socket

    Raises
    ------
    InputError
        If it cannot be had.
    """
    try:
        if unix_socket is not None:
            return _bind_unix(unix_socket)
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        return listener
    except (OSError, UnicodeError) as error:
        where = unix_socket or f"{host}, port {port}"
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen on {where}: {reason}", remedy="choose another address") from None


def _bind_unix(path):
    listener = socket.socket(socket.AF_UNIX)
    with contextlib.suppress(FileNotFoundError), socket.socket(socket.AF_UNIX) as other:
        try:
            other.connect(os.fspath(path))
        except ConnectionRefusedError:
            os.unlink(path)  # of a service that is no more
    listener.bind(os.fspath(path))
    return listener


def address_of(listener):
    """Where a socket listens, as a person types it.

    Parameters
    ----------
    listener : socket.socket

    Returns
    -------
    str
        A URL, or the path of a Unix socket.
    """
    name = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        return f"unix:{name}"
    host = f"[{name[0]}]" if ":" in name[0] else name[0]
    return f"http://{host}:{name[1]}"


class Worker(uvicorn.Server):
    """A uvicorn server that leaves signals to the process around it and follows its end.

    Parameters
    ----------
    config : uvicorn.Config
    lifeline : int
        File descriptor that closes when the watching process is no more.
    reloading : ovaflow.serving.reloading.Reloading
        Looked after beside the server, and at once on SIGHUP.
    """

    def __init__(self, config, lifeline, reloading):
        super().__init__(config)
        self._lifeline, self._reloading = lifeline, reloading

    async def serve(self, sockets=None):
        """Serve until told to stop, then finish what is in flight."""
        loop, reloading = asyncio.get_running_loop(), self._reloading
        await reloading.look()
        jobs = {loop.create_task(reloading.watch())}
        loop.add_reader(self._lifeline, self._stop)
        loop.add_signal_handler(signal.SIGTERM, self._stop)
        loop.add_signal_handler(signal.SIGHUP, lambda: jobs.add(loop.create_task(reloading.look(again=True))))
        await self._serve(sockets)
        for job in jobs:
            job.cancel()

    def _stop(self):
        self.should_exit = True
        asyncio.get_running_loop().remove_reader(self._lifeline)


class Supervisor:
    """Keeps workers running.

    Parameters
    ----------
    count : int
        Of workers.
    work : callable
        ``work(number, lifeline)``, what worker ``number`` does, in its own process.
    follow : callable
        Called every second, so that a worker that takes the place of another begins with what the others have.
    grace : float
        Seconds that workers have to finish once told to stop.
    log : callable
        Told what happened, in one line.
    """

    def __init__(self, count, work, follow, grace, log):
        self._count, self._work, self._follow, self._grace, self._log = count, work, follow, grace, log
        self._started, self._numbers, self._hasty = {}, {}, 0
        self._lifeline = None

    def run(self):
        """Run until SIGTERM or SIGINT; SIGHUP is passed on.

        Returns
        -------
        int
            Exit status: 1 if workers die as soon as they start, or had to be killed.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
        self._lifeline = os.pipe()
        gc.freeze()  # collections in the workers shall not touch, and so copy, what they share
        for number in range(self._count):
            self._start(number)
        while self._hasty < _HASTY_DEATHS:
            received = signal.sigtimedwait(_WATCHED, 1.0)
            if received is None:
                self._follow()
            elif received.si_signo == signal.SIGCHLD:
                self._restart_the_dead()
            elif received.si_signo == signal.SIGHUP:
                self._tell_all(signal.SIGHUP)
            else:
                return self._stop()
        self._log("workers die as soon as they start: giving up")
        self._stop()
        return 1

    def _start(self, number):
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            self._be_worker(number)
        self._numbers[process], self._started[process] = number, time.monotonic()

    def _be_worker(self, number):
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the watching process decides
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
            os.close(self._lifeline[1])
            self._work(number, self._lifeline[0])
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _reap(self):
        """Workers that have ended, with their exit codes; process 1 of a container hears of others, too."""
        with contextlib.suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    return
                if process in self._numbers:
                    yield process, os.waitstatus_to_exitcode(status)

    def _restart_the_dead(self):
        for process, code in self._reap():
            number, lived = self._numbers.pop(process), time.monotonic() - self._started.pop(process)
            self._hasty = self._hasty + 1 if lived < _HASTY_SECONDS else 0
            self._log(f"worker {number} ended with status {code} after {lived:.0f} s; starting another")
            if self._hasty < _HASTY_DEATHS:
                self._start(number)

    def _tell_all(self, number):
        for process in self._numbers:
            os.kill(process, number)

    def _stop(self):
        self._tell_all(signal.SIGTERM)
        deadline = time.monotonic() + self._grace
        while self._numbers and (left := deadline - time.monotonic()) > 0:
            signal.sigtimedwait({signal.SIGCHLD}, min(left, 0.5))
            for process, _ in self._reap():
                del self._numbers[process]
        if not self._numbers:
            return 0
        self._log(f"{len(self._numbers)} workers did not finish within {self._grace:g} s and are killed")
        self._tell_all(signal.SIGKILL)
        for process in self._numbers:
            os.waitpid(process, 0)
        return 1
