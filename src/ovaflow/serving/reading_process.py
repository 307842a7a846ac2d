"""A process that reads one file of a stranger, from standard input, and can do no harm: python -m …
KIND CHARACTERS.
"""

import contextlib
import json
import signal
import sys

from ovaflow.reading.documents import TimeIsUp, UnreadableDocument, read_document

READING_SECONDS = 5
"""After so long what has been read is the answer."""
KILLING_SECONDS = 10
"""After so long the process is killed."""
_MEMORY_BYTES = 1 << 30


def main(kind, most) -> None:
    limit_resources()
    signal.setitimer(signal.ITIMER_REAL, READING_SECONDS)
    try:
        answer = read_document(kind, sys.stdin.buffer.read(), int(most))._asdict()
    except UnreadableDocument as error:
        answer = {"code": error.code}
    except TimeIsUp:
        answer = {"code": "too_slow"}
    signal.setitimer(signal.ITIMER_REAL, 0)
    json.dump(answer, sys.stdout)


def limit_resources() -> None:
    """Limit memory, time on the processor and what is written."""
    import resource

    limits = {
        resource.RLIMIT_AS: _MEMORY_BYTES,
        resource.RLIMIT_CPU: KILLING_SECONDS,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for limit, amount in limits.items():
        # macOS does not limit memory
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (amount, amount))
    signal.signal(signal.SIGALRM, _raise_time_is_up)


def _raise_time_is_up(*_):
    raise TimeIsUp


if __name__ == "__main__":
    main(*sys.argv[1:])
