"""Kernels that only kernels call, for tests."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba


def call(callee: Callable, *arguments: Any) -> Any:
    """Call a kernel that Python cannot."""
    return _make_caller(callee)(*arguments)


@cache
def _make_caller(callee: Callable) -> Callable:
    return numba.njit(lambda *arguments: callee(*arguments))
