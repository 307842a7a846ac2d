"""``python -m ovaflow`` is the command line."""

import gc
import os
import sys

from ovaflow.console.interrupts import INTERRUPTED_STATUS, exit_on_interrupt

exit_on_interrupt()
# imported modules stay: repeated collections would take a tenth of a second
gc.set_threshold(50_000, 50, 50)

from ovaflow.cli import main  # noqa: E402


def run() -> None:
    """Run the command line and end the process with its status."""
    status = main()
    if status == INTERRUPTED_STATUS:
        # does not wait for threads, which may compute for minutes
        sys.stdout.flush()
        os._exit(status)
    # the last collections, over all modules, would take a tenth of a second
    gc.freeze()
    sys.exit(status)


if __name__ == "__main__":
    run()
