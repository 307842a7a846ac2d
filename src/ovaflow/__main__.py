"""``python -m ovaflow`` is the command line."""

import sys

from ovaflow.cli import main
from ovaflow.machine.stopping import end_by_signals, give_way


def run():
    """Run the command line and end the process with its status."""
    if sys.argv[1:2] != ["serve"]:
        # the service answers what it has begun to
        end_by_signals()
    status = main()
    give_way()
    sys.exit(status)


if __name__ == "__main__":
    run()
