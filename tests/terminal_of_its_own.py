"""A terminal that a program writes to, and what a person sees on it."""

import fcntl
import os
import pty
import struct
import subprocess
import termios

import pyte


class Terminal:
    """A terminal of some columns and lines, with what has scrolled off its top."""

    def __init__(self, columns=100, lines=30):
        self._size = columns, lines
        self._screen = pyte.HistoryScreen(columns, lines, history=10_000)
        self._stream = pyte.ByteStream(self._screen)
        self.frames = []

    def run(self, command, typed="", **options):
        """Run a program to its end, with what a person typed; ``frames``: what was seen after each of its writes."""
        ours, theirs = pty.openpty()
        columns, lines = self._size
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, **options)
        os.close(theirs)
        os.write(ours, typed.encode())
        while written := _read(ours):
            self._stream.feed(written)
            self.frames.append(self.text())
        os.close(ours)
        return process.wait()

    def text(self):
        """Everything that was written and is not overwritten."""
        above = ["".join(line[column].data for column in range(self._size[0])) for line in self._screen.history.top]
        return "\n".join(line.rstrip() for line in [*above, *self._screen.display]).rstrip()

    def cursor_is_shown(self):
        """Whether a person sees where they type."""
        return not self._screen.cursor.hidden


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # how Linux says that the other side is closed
        return b""
