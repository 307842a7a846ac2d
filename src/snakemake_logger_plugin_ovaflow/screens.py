"""Where stages are shown: a terminal, whose last lines are drawn again, or a log, to which lines are added."""

import threading

from ovaflow.console.progress import clock

EVERY = 30.0
"""Seconds between two lines of a running stage in a log."""

_TITLE, _TIME, _PLACE = 12, 13, 40


def line_of(stage, width):
    """A stage as a line.

    Parameters
    ----------
    stage : Stage
    width : int
        Of the column of places.

    Returns
    -------
    str
    """
    place = stage.place if len(stage.place) <= _PLACE else f"…{stage.place[1 - _PLACE :]}"
    columns = f"{stage.title:<{_TITLE}} {place:<{min(width, _PLACE)}} {clock(stage.elapsed):>{_TIME}}"
    return f"{columns}  {stage.detail()}".rstrip()


class Page:
    """Lines for a file or a pipe.

    Parameters
    ----------
    stages : Stages
    stream : file-like
    """

    def __init__(self, stages, stream):
        self._stages, self._stream = stages, stream
        self._told, self._shown = set(), {}
        self._lock, self._closed = threading.RLock(), threading.Event()
        self._first = True
        self._clock = threading.Thread(target=self._tick, daemon=True)
        self._clock.start()

    def show(self):
        """Write the stages that are done."""
        with self._lock:
            self._begin()
            for stage in self._stages.all():
                if stage.done and id(stage) not in self._told:
                    self._told.add(id(stage))
                    self._write(line_of(stage, self._stages.width()), "done")
                    for remark in stage.remarks:
                        self._write(f"{'':<{_TITLE}} {remark}")

    def say(self, text, color=None):
        """Write something else.

        Parameters
        ----------
        text : str
        color : str, optional
        """
        with self._lock:
            self._write(text, color)

    def close(self):
        """Write what there is at the end."""
        self._closed.set()
        self._clock.join()
        with self._lock:
            self.show()
            done, jobs = self._stages.counts
            if done < jobs:
                self._write(f"Stopped: {done:,} of {jobs:,} jobs are done, in {clock(self._stages.elapsed)}", "red")
            elif jobs:
                self._write(f"Done: {jobs:,} job{'s' if jobs > 1 else ''} in {clock(self._stages.elapsed)}", "done")

    def _begin(self):
        if self._first:
            self._first = False
            _, jobs = self._stages.counts
            self._write(f"{jobs:,} job{'s' if jobs > 1 else ''} to do")

    def _tick(self):
        while not self._closed.wait(self._pause()):
            with self._lock:
                self._refresh()

    def _pause(self):
        return EVERY

    def _refresh(self):
        for stage in self._stages.running():
            line = line_of(stage, self._stages.width())
            if stage.elapsed >= EVERY:
                self._write(line)

    def _write(self, text, color=None):
        self._stream.write(f"{text}\n")
        self._stream.flush()


class Screen(Page):
    """Lines for a terminal, the running stages redrawn below those that are done."""

    def __init__(self, stages, stream):
        # here, since only terminals need it
        from rich.console import Console
        from rich.live import Live

        self._console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True, vertical_overflow="crop")
        self._live.start()
        # the cursor stays as it is, should this process be killed
        self._console.show_cursor(True)
        super().__init__(stages, stream)

    def close(self):
        """Take the running stages away, and write what there is at the end."""
        self._closed.set()
        self._clock.join()
        self._live.stop()
        super().close()

    def show(self):
        """Write the stages that are done, draw the others again."""
        with self._lock:
            super().show()
            if not self._closed.is_set():
                self._refresh()

    def _pause(self):
        return 0.5 if len(self._stages.running()) < 20 else 2.0

    def _refresh(self):
        from rich.text import Text

        width = self._stages.width()
        running = self._stages.running()[: max(self._console.height - 4, 1)]
        done, jobs = self._stages.counts
        lines = [Text(line_of(stage, width), style="bold") for stage in running]
        lines.append(Text(f"{done:,} of {jobs:,} jobs done, {clock(self._stages.elapsed)}", style="dim"))
        for line in lines:
            line.truncate(self._console.width - 1, overflow="ellipsis")
        self._live.update(Text("\n").join(lines), refresh=True)

    def _write(self, text, color=None):
        from rich.text import Text

        line = Text(text, style={"done": "green"}.get(color, color or ""))
        if color == "done":
            line.truncate(self._console.width - 1, overflow="ellipsis")
        self._console.print(line)
