"""Ctrl-C as one line, also while modules are loaded."""

import os
import signal
from types import FrameType

INTERRUPTED_STATUS = 130  # exit status after Ctrl-C


def exit_on_interrupt() -> None:
    """Let Ctrl-C end this process where it stands: while modules are loaded there is nothing to
    tidy up.
    """
    # whoever starts a process in the background has it ignore Ctrl-C
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_on_interrupt() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, so that unfinished files are removed."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def print_interrupted() -> None:
    """Say it, on a terminal below the line with ^C."""
    try:  # noqa: SIM105, contextlib itself may be half loaded
        os.write(2, b"\n" * os.isatty(2) + b"ovaflow: interrupted\n")
    except OSError:  # the log may be on the disk that is full
        pass


def _end(number: int, frame: FrameType | None) -> None:
    print_interrupted()
    os._exit(INTERRUPTED_STATUS)
