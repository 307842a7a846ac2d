"""Dense work in blocks: threads take whole blocks, so that their number changes no bit of a result.

BLAS divides sums among its own threads, and rounds differently for each number
of them. So it runs on one thread here, over blocks whose sizes depend on the
data alone, and what blocks contribute is added up in their order.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

from ovaflow.machine.place import settle_thread


@contextmanager
def in_blocks(threads):
    """``map`` over threads that take blocks, with BLAS held to one thread in each."""
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads, initializer=settle_thread) as pool:
        yield pool.map


def row_blocks(n, size):
    return [slice(low, min(low + size, n)) for low in range(0, n, size)]
