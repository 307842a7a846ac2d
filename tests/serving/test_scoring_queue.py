import asyncio
import threading

import pytest
from fastapi import HTTPException

from ovaflow.serving.scoring_queue import ScoringQueue


def test_late_and_excess_work_is_refused_and_places_become_free() -> None:
    begun = threading.Event()
    may_end = threading.Event()
    ran = []

    def long() -> None:
        begun.set()
        may_end.wait(30)

    async def expect_refusal(queue, work, *arguments) -> str:
        with pytest.raises(HTTPException) as caught:
            await queue.run(work, *arguments)
        assert (caught.value.status_code, caught.value.headers) == (503, {"Retry-After": "1"})
        return caught.value.detail

    async def ask() -> None:
        queue = ScoringQueue(1, 1, 0.2)
        late = asyncio.create_task(expect_refusal(queue, long))
        await asyncio.to_thread(begun.wait)
        waiting = asyncio.create_task(expect_refusal(queue, ran.append, "never"))
        await asyncio.sleep(0)
        assert "already being answered" in await expect_refusal(queue, ran.append, "refused")
        assert "not answered within" in await late
        assert "not answered within" in await waiting
        may_end.set()
        await asyncio.sleep(0.05)
        assert await queue.run(sorted, [2, 1]) == [1, 2]
        with pytest.raises(ZeroDivisionError):
            await queue.run(lambda: 1 // 0)
        assert ran == []
        queue.close()

    asyncio.run(ask())
