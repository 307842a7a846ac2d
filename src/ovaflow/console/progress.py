"""Progress with an estimate: a moving line on a terminal, plain periodic lines in a log."""

import contextlib
import contextvars
import sys
import time
from collections.abc import Iterator
from typing import Self, TextIO

_SILENT = contextvars.ContextVar("silent", default=False)
"""Whether the current thread shows no progress."""

_TERMINAL_SECONDS = 0.2
"""Time between two updates of a line on a terminal."""


@contextlib.contextmanager
def silence_progress(*, silent: bool = True) -> Iterator[None]:
    """Show no progress of this thread while the block runs.

    With ``silent=False`` it is shown. Other threads are not affected.
    """
    token = _SILENT.set(silent)
    try:
        yield
    finally:
        _SILENT.reset(token)


def format_duration(seconds: float) -> str:
    """Format seconds for people: ``0.4 s``, ``59 s``, ``12 min 03 s``, ``3 h 20 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60:02d} s"
    return f"{rounded // 3600:,} h {rounded % 3600 // 60:02d} min"


class Progress:
    """Display of a long step's progress and of the time that is left.

    Parameters
    ----------
    title : str
        Name of the step.
    total : int
        Number of units; 0 where it is unknown.
    unit : str
        Plural of the unit, such as ``labels``.
    every : float, default=10.0
        Seconds between two lines in a log. A terminal has one line, refreshed every 0.2 s.
    stream : file, optional
        Log or terminal; by default the standard error.
    quiet : bool, default=False
        Whether nothing is shown.
    work : float, optional
        Work of all units, in any measure, where they differ; the share that is done and the time
        left follow from it.
    """

    def __init__(
        self,
        title: str,
        total: int,
        unit: str,
        *,
        every: float = 10.0,
        stream: TextIO | None = None,
        quiet: bool = False,
        work: float | None = None,
    ) -> None:
        self._title = title
        self.total = total
        self._unit = unit
        self._stream = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._every = _TERMINAL_SECONDS if self._live else every
        self._quiet = quiet or _SILENT.get()
        self._started = time.monotonic()
        self._written = self._started
        self.done = 0
        self._work = total if work is None else work
        self._worked = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None:
            self._write(self._line(finished=True), last=True)
        elif self._live and not self._quiet:
            self._stream.write("\n")

    def advance(self, amount: int = 1, work: float | None = None) -> None:
        """Count finished units, and their work."""
        self.done += amount
        self._worked += amount if work is None else work
        now = time.monotonic()
        if now - self._written >= self._every:
            self._written = now
            self._write(self._line())

    def _line(self, *, finished: bool = False) -> str:
        elapsed = time.monotonic() - self._started
        if finished:
            return f"{self._title}: {self.done:,} {self._unit} in {format_duration(elapsed)}"
        if not self.total:
            return f"{self._title}: {self.done:,} {self._unit}, {format_duration(elapsed)}"
        left = elapsed * max(self._work - self._worked, 0.0) / (self._worked or 1.0)
        share = int(100 * self._worked / self._work)
        done = f"{self.done:,} of {self.total:,} {self._unit} ({share} %)"
        return f"{self._title}: {done}, {format_duration(left)} left"

    def _write(self, line: str, *, last: bool = False) -> None:
        if self._quiet:
            return
        if self._live:
            end = "\n" if last else ""
            self._stream.write(f"\r\x1b[2K{line}{end}")
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()
