"""The queue in front of the threads that score."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ovaflow.serving import metrics
from ovaflow.serving.replies import busy_error

Result = TypeVar("Result")


class ScoringQueue:
    """Runs work in few threads, outside of the event loop, and refuses with status 503 what exceeds
    its places.

    Parameters
    ----------
    threads : int
        Threads that work.
    waiting : int
        Places for work that waits for a thread.
    seconds : float
        Time after which a caller is refused.
    """

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="scoring")
        self._places = threads + waiting
        self._free_places = self._places
        self._seconds = seconds

    async def run(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Return ``work(*arguments)``.

        After the time of the queue its caller is refused; work that has not begun never does.
        """
        if self._free_places == 0:
            raise busy_error(f"{self._places} requests are already being answered or waiting")
        self._take_places(1)
        loop = asyncio.get_running_loop()

        def free_place(_: Future[Result]) -> None:
            loop.call_soon_threadsafe(self._take_places, -1)

        future = self._pool.submit(work, *arguments)
        future.add_done_callback(free_place)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            raise busy_error(f"not answered within {self._seconds:g} s") from None

    def close(self) -> None:
        """End the threads after their current work."""
        self._pool.shutdown(cancel_futures=True)

    def _take_places(self, count: int) -> None:
        self._free_places -= count
        metrics.BUSY_REQUESTS.inc(count)
