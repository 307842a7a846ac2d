"""Logger plugin of Snakemake: ``snakemake --logger ovaflow`` shows one line per stage.

The workflow's profiles switch it on. With ``--dry-run``, ``--verbose``, ``--printshellcmds`` or ``--debug-dag``
Snakemake's own messages appear as always.
"""

import logging
import sys

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_ovaflow.failures import Failures
from snakemake_logger_plugin_ovaflow.screens import Page, Screen
from snakemake_logger_plugin_ovaflow.stages import Stages

_NO_NEWS = (
    "Assuming unrestricted shared filesystem usage",
    "At least one job did not complete successfully",
    "Building DAG of jobs",
    "Conda environments: ignored",
    "Exiting because a job execution failed",
    "Group jobs: inactive",
    "Provided remote nodes",
    "Using shell",
)


class LogHandler(LogHandlerBase):
    """Snakemake's events as lines for a person."""

    def __post_init__(self):
        given = self.common_settings
        self._stream = sys.stdout if given.stdout else sys.stderr
        self._quiet = {quietness.name.lower() for quietness in given.quiet or ()}
        self._own = self._snakemakes_own() if _details_wanted(given) else None
        self._stages, self._failures = Stages(), Failures(given.show_failed_logs)
        self._screen = None
        self._deaf = False

    # what Snakemake asks of a plugin
    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def _snakemakes_own(self):
        # loaded here: Snakemake imports plugins for every job, and loads this module after them
        from snakemake.logging import ColorizingTextHandler

        return ColorizingTextHandler(nocolor=self.common_settings.nocolor, stream=self._stream)

    def emit(self, record):
        """Show an event, or what it means for the stages.

        Parameters
        ----------
        record : logging.LogRecord
        """
        try:
            if self._deaf:
                return
            if self._own is not None:
                self._own.setFormatter(self.formatter)
                self._own.emit(record)
            else:
                self._take(record)
        except BrokenPipeError:
            # whoever read has gone; the jobs go on
            self._deaf = True
        except Exception:
            self.handleError(record)

    def close(self):
        """Leave the terminal as it was."""
        if self._screen is not None and not self._deaf:
            self._screen.close()
            self._screen = None
        super().close()

    def _take(self, record):
        event = getattr(record, "event", None)
        take = {
            LogEvent.RUN_INFO: self._begin,
            LogEvent.JOB_INFO: self._job_started,
            LogEvent.JOB_FINISHED: self._job_finished,
            LogEvent.JOB_ERROR: self._job_failed,
            LogEvent.ERROR: self._error,
            None: self._message,
        }.get(event)
        if take is not None:
            take(record)

    def _begin(self, record):
        self._stages.expect(record.stats)
        if "progress" not in self._quiet and self._screen is None:
            live = self._stream.isatty() and not self.common_settings.nocolor
            self._screen = (Screen if live else Page)(self._stages, self._stream)

    def _job_started(self, record):
        self._stages.start(record)
        self._show()

    def _job_finished(self, record):
        self._stages.finish(record.job_id)
        self._show()

    def _job_failed(self, record):
        job = self._stages.fail(record.jobid)
        self._show()
        self._say(self._failures.describe(record, job), "red")

    def _error(self, record):
        text = record.getMessage()
        if not self._failures.explains(text):
            self._say(text, "red")

    def _message(self, record):
        text = str(record.msg or "").strip()
        if hasattr(record, "jobs_by_place"):
            self._stages.expect_places(record.jobs_by_place)
        elif text and not text.startswith(_NO_NEWS) and (record.levelno >= logging.WARNING or not self._stages.begun):
            self._say(text, {logging.WARNING: "yellow", logging.ERROR: "red"}.get(record.levelno))

    def _show(self):
        if self._screen is not None:
            self._screen.show()

    def _say(self, text, color=None):
        if self._screen is not None:
            self._screen.say(text, color)
        else:
            print(text, file=self._stream, flush=True)


def _details_wanted(given):
    return given.dryrun or given.verbose or given.printshellcmds or given.debug_dag
