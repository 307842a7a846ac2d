import asyncio
import threading

import pytest

from ovaflow.serving.problems import Problem
from ovaflow.serving.scoring_queue import ScoringQueue


def test_what_is_late_or_too_much_is_refused_and_places_come_back():
    begun, may_end, busy, ran = threading.Event(), threading.Event(), [], []

    def long():
        begun.set()
        may_end.wait(30)
        return "late"

    async def ask():
        queue = ScoringQueue(1, 1, 0.2, busy.append)
        late = asyncio.create_task(queue.run(long))
        await asyncio.to_thread(begun.wait)
        waiting = asyncio.create_task(queue.run(ran.append, "never"))
        await asyncio.sleep(0)
        assert busy[-1] == 2
        with pytest.raises(Problem, match="wait already") as refused:
            await queue.run(ran.append, "refused")
        for each in (late, waiting):
            with pytest.raises(Problem, match="not answered within") as given_up:
                await each
            assert given_up.value.status == refused.value.status == 503
            assert given_up.value.headers == refused.value.headers == {"Retry-After": "1"}
        await asyncio.sleep(0)
        assert busy[-1] == 1, "the thread is still taken"
        may_end.set()
        while busy[-1]:
            await asyncio.sleep(0.01)
        assert await queue.run(sorted, [2, 1]) == [1, 2]
        assert ran == []
        queue.close()

    asyncio.run(ask())


def test_an_error_of_the_work_reaches_its_caller():
    async def ask():
        queue = ScoringQueue(1, 0, 5, lambda _: None)
        with pytest.raises(ZeroDivisionError):
            await queue.run(lambda: 1 // 0)
        queue.close()

    asyncio.run(ask())
