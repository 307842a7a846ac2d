"""``python -m ovaflow`` is the command line."""

import sys

from ovaflow.cli import main


def run():
    """Run the command line and end the process with its status."""
    sys.exit(main())


if __name__ == "__main__":
    run()
