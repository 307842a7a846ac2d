"""The queue before the threads that score."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from ovaflow.serving import metrics
from ovaflow.serving.replies import busy_error


class ScoringQueue:
    """Runs work in few threads, outside of the event loop; what cannot be taken is refused at once,
    with status 503.
    """

    def __init__(self, threads, waiting, seconds) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="scoring")
        self._free = threads + waiting
        self._places = threads + waiting
        self._seconds = seconds

    async def run(self, work, *arguments):
        """Return ``work(*arguments)``; a caller whose time is over is sent away, and what has not
        begun never does.
        """
        if self._free == 0:
            raise busy_error(f"{self._places} requests are already being answered or waiting")
        self._take(1)
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work, *arguments)
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._take, -1))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            raise busy_error(f"not answered within {self._seconds:g} s") from None

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _take(self, places) -> None:
        self._free -= places
        metrics.BUSY_REQUESTS.inc(places)
