"""Ctrl-C as one line, also while modules are loaded."""

import os
import signal
from types import FrameType

INTERRUPTED_STATUS = 130
"""Exit status after Ctrl-C."""


def exit_on_interrupt() -> None:
    """Let Ctrl-C end this process at once: while modules are loaded there is nothing to tidy up."""
    # a process that was started in the background ignores Ctrl-C
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_on_interrupt() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, so that unfinished files are removed."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def print_interrupted() -> None:
    """Print that the process was interrupted, on a terminal below the line with ^C."""
    text = b"ovaflow: interrupted\n"
    if os.isatty(2):
        text = b"\n" + text
    try:  # noqa: SIM105, contextlib itself may be half loaded
        os.write(2, text)
    except OSError:  # the log may be on the disk that is full
        pass


def _end(number: int, frame: FrameType | None) -> None:
    print_interrupted()
    os._exit(INTERRUPTED_STATUS)
