"""Signals that end a process: what it has is brought to safety first, however busy it is.

A signal's handler in Python runs in the main thread between two of its steps,
and a kernel or a compiler may keep that thread for minutes. The handler in C
writes the signal's number to a pipe at once. So a thread waits at the pipe,
does what is to be done and ends the process under all others.
"""

import contextlib
import os
import signal
import sys
import threading

PATIENCE = 3.0
"""Seconds for what is to be done before the end; a disk that does not answer must not hold it up."""

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU)
"""By the scheduler or the user, Ctrl-C, the terminal that was closed, and the end of the CPU time."""

_at_stop: list = []
_begun = threading.Event()


@contextlib.contextmanager
def at_stop(action):
    """Have something done if a signal ends the process while the block runs.

    Parameters
    ----------
    action : callable
        Runs in another thread; may return what is kept, in words.
    """
    _at_stop.append(action)
    try:
        yield
    finally:
        _at_stop.remove(action)


def watch_signals(end, signals=SIGNALS):
    """Wait for a signal beside all that this process does; a signal that is ignored so far stays so.

    Parameters
    ----------
    end : callable
        Takes the signal, in a thread of its own.
    signals : tuple of signal.Signals
        Those that Python has a handler for keep it.
    """
    reader, writer = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(writer, False)
    watched = {number for number in signals if signal.getsignal(number) != signal.SIG_IGN}
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in watched:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, lambda number, frame: None)
    os.register_at_fork(after_in_child=lambda: _forget(watched))

    def wait():
        while (number := os.read(reader, 1)[0]) not in watched:
            pass
        end(signal.Signals(number))

    threading.Thread(target=wait, daemon=True, name="signals").start()


def _forget(watched):
    """A forked process has no thread that waits."""
    signal.set_wakeup_fd(-1)
    for number in watched:
        signal.signal(number, signal.SIG_DFL)


def end_by_signals():
    """Let signals end this process: at once, with nothing half-done, one line and the status that shells expect."""
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    watch_signals(_end)


def _end(number):
    _begun.set()
    kept = []
    worker = threading.Thread(target=_do_all, args=(kept,), daemon=True)
    worker.start()
    worker.join(PATIENCE)
    leave(number, "; ".join(kept) or "nothing half-done is left")


def leave(number, kept):
    """End the process with one line.

    Parameters
    ----------
    number : signal.Signals
    kept : str
        What is kept, in words.
    """
    with contextlib.suppress(OSError):
        os.write(2, f"ovaflow: stopped by {number.name}: {kept}, the same command continues\n".encode())
    os._exit(128 + number)


def _do_all(kept):
    # those that began last are done first, as when a block ends
    for action in reversed(_at_stop.copy()):
        with contextlib.suppress(Exception):
            kept.extend(filter(None, [action()]))
    with contextlib.suppress(Exception):
        sys.stdout.flush()


def give_way():
    """Wait for the end if a signal has come: whatever goes wrong then in other threads is its consequence."""
    if _begun.is_set():
        threading.Event().wait()
