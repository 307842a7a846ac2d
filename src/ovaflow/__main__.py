"""``python -m ovaflow`` is the command line."""

import gc
import os
import sys

from ovaflow.console.interrupts import INTERRUPTED_STATUS, exit_on_interrupt

exit_on_interrupt()
# what is imported stays: to walk over it again and again takes a tenth of a second
gc.set_threshold(50_000, 50, 50)

from ovaflow.cli import main  # noqa: E402


def run() -> None:
    """Run the command line and end the process with its status."""
    status = main()
    if status == INTERRUPTED_STATUS:
        # without waiting for threads that may compute for minutes
        sys.stdout.flush()
        os._exit(status)
    # the interpreter's last collections would walk over all that was loaded, a tenth of a second
    gc.freeze()
    sys.exit(status)


if __name__ == "__main__":
    run()
