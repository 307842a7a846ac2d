"""What the log of a job says about how far it is."""

import re
from dataclasses import dataclass
from pathlib import Path

_TAIL = 4096
_PART = re.compile(r"(?P<title>.*): (?P<done>[\d,]+) of (?P<total>[\d,]+) (?P<unit>\w+) \(\d+ %\), (?P<left>.*) left")
_WHOLE = re.compile(r"(?P<title>.*): (?P<done>[\d,]+) (?P<unit>\w+)( in|,) .*")


@dataclass(frozen=True)
class Progress:
    """A line that :class:`ovaflow.console.progress.Progress` wrote."""

    title: str
    done: int
    total: int
    unit: str

    @property
    def share(self):
        """Share that is done."""
        return self.done / self.total if self.total else 0.0


def progress_of(line):
    """How far a job is by a line of its log.

    Parameters
    ----------
    line : str

    Returns
    -------
    Progress or None
        None for any other line; ``total`` is 0 where the line names none.
    """
    match = _PART.fullmatch(line) or _WHOLE.fullmatch(line)
    if match is None:
        return None
    done, total = (int(match.groupdict().get(key, "0").replace(",", "")) for key in ("done", "total"))
    return Progress(match["title"], done, total, match["unit"])


class JobLog:
    """The end of a growing file, read again only where it has grown.

    Parameters
    ----------
    path : path-like or None
    """

    def __init__(self, path):
        self._path = None if path is None else Path(path)
        self._size = -1
        self.lines = []

    def read(self):
        """Read what is new.

        Returns
        -------
        list of str
            Last lines, without empty ones; none where there is no log.
        """
        if self._path is None:
            return self.lines
        try:
            size = self._path.stat().st_size
            if size != self._size:
                with open(self._path, "rb") as file:
                    file.seek(max(size - _TAIL, 0))
                    text = file.read(_TAIL).decode(errors="replace")
                self._size, self.lines = size, [line for line in text.splitlines() if line.strip()]
        except OSError:
            # not there yet, or already taken away with the job's folder
            self.lines = []
        return self.lines

    def last(self):
        """The last line, empty where there is none."""
        return self.lines[-1].strip() if self.lines else ""
