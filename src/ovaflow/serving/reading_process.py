"""A process that reads one untrusted file from standard input, with limited resources:
``python -m ovaflow.serving.reading_process KIND CHARACTERS``.
"""

import contextlib
import json
import signal
import sys
from types import FrameType

from ovaflow.reading.documents import TimeIsUp, UnreadableDocumentError, read_document

READING_SECONDS = 5
"""Seconds after which the text read so far is the answer."""
KILLING_SECONDS = 10
"""Seconds after which the process is killed."""
_MEMORY_BYTES = 1 << 30
"""Address space of the process: enough for the pages of ordinary files."""


def main(kind: str, max_characters: str) -> None:
    """Write the text of standard input, or a code of why it is unreadable, as JSON."""
    limit_resources()
    signal.setitimer(signal.ITIMER_REAL, READING_SECONDS)
    try:
        answer = read_document(kind, sys.stdin.buffer.read(), int(max_characters))._asdict()
    except UnreadableDocumentError as error:
        answer = {"code": error.code}
    except TimeIsUp:
        answer = {"code": "too_slow"}
    signal.setitimer(signal.ITIMER_REAL, 0)
    json.dump(answer, sys.stdout)


def limit_resources() -> None:
    """Limit memory, processor time and written bytes."""
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


def _raise_time_is_up(number: int, frame: FrameType | None) -> None:
    raise TimeIsUp


if __name__ == "__main__":
    main(*sys.argv[1:])
