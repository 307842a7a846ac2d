"""Threads that score, and a queue of bounded length before them."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from ovaflow.serving.problems import Problem


class ScoringQueue:
    """Runs work outside of the event loop; what cannot be taken is refused at once.

    Parameters
    ----------
    threads : int
    waiting : int
        Jobs that may wait for a thread.
    seconds : float
        After which a job's caller is sent away; one that has not begun never does.
    gauge : callable
        Told the number of jobs that run or wait, whenever it changes.
    """

    def __init__(self, threads, waiting, seconds, gauge):
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="scoring")
        self._places, self._seconds, self._gauge = threads + waiting, seconds, gauge
        self._taken = 0

    async def run(self, work, *arguments):
        """Run a function in one of the threads.

        Parameters
        ----------
        work : callable
        *arguments
            Of the function.

        Returns
        -------
        object
            What it returns.

        Raises
        ------
        Problem
            503 if all places are taken or the time is over.
        """
        if self._taken >= self._places:
            raise Problem(503, f"{self._places} requests are being answered or wait already", retry_after=1)
        self._count(1)
        future = self._pool.submit(work, *arguments)
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._count, -1))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            raise Problem(503, f"not answered within {self._seconds:g} s", retry_after=1) from None

    def close(self):
        """Wait for what runs."""
        self._pool.shutdown(cancel_futures=True)

    def _count(self, change):
        self._taken += change
        self._gauge(self._taken)
