"""Layers between clients and routes: allowed callers, sizes of bodies, ends of connections."""

import asyncio
import signal
from collections.abc import Collection, Sequence
from typing import Any

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ovaflow.serving.replies import busy_error, problem_response

_MAX_HELD_BODIES = 32
"""Bodies of the largest size that a worker holds at the same time, or more smaller ones."""

_CLOSING_SECONDS = 1
"""Seconds that a worker goes on after SIGTERM, so that clients open their next connection to
another one.
"""

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing (RFC 9110), which pages of other sites may use."""

_FOREIGN_HOST = problem_response(
    400, "called by a name that is not allowed: serve with --allowed-host"
)


class ConnectionCloser:
    """ASGI middleware that lets clients leave before uvicorn closes their connections, at which a
    client may be sending a request.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._is_ending = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            self._end_later(asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM))

        async def send_and_close(message: Message) -> None:
            if self._is_ending and message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        await self._app(scope, receive, send_and_close)

    def _end_later(self, loop: asyncio.AbstractEventLoop, end: Any) -> None:
        """Call uvicorn's handler of SIGTERM with a delay."""

        def begin() -> None:
            self._is_ending = True
            loop.call_later(_CLOSING_SECONDS, end, signal.SIGTERM, None)

        loop.add_signal_handler(signal.SIGTERM, begin)


class BodyLimit:
    """ASGI middleware that refuses bodies that are too large, arrive too slowly, or are too many at
    the same time.

    Parameters
    ----------
    app : ASGI application
        Application that is protected.
    max_bytes : int
        Largest body.
    seconds : float
        Time in which a body has to arrive.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, seconds: float) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds
        # of all requests that have not been answered
        self._held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = int(dict(scope["headers"]).get(b"content-length", 0))
        size = 0
        deadline = asyncio.get_running_loop().time() + self._seconds

        async def receive_and_count() -> Message:
            nonlocal size
            if announced <= self._max_bytes:
                message = await self._receive_until(deadline, receive)
                added = len(message.get("body", b""))
                size += added
                self._held_bytes += added
            if max(announced, size) > self._max_bytes:
                raise HTTPException(413, f"the body has more than {self._max_bytes} bytes")
            max_held = _MAX_HELD_BODIES * self._max_bytes
            if self._held_bytes > max_held:
                raise busy_error(f"the requests being received have more than {max_held} bytes")
            return message

        try:
            await self._app(scope, receive_and_count, send)
        finally:
            self._held_bytes -= size

    async def _receive_until(self, deadline: float, receive: Receive) -> Message:
        try:
            async with asyncio.timeout_at(deadline):
                return await receive()
        except TimeoutError:
            detail = f"the body did not arrive within {self._seconds:g} s"
            raise HTTPException(408, detail, {"Connection": "close"}) from None


class SameOrigin:
    """ASGI middleware that refuses requests of other sites' pages that change something, with
    status 403.
    """

    def __init__(self, app: ASGIApp, allowed_origins: Collection[str]) -> None:
        self._app = app
        self._allowed = allowed_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope.get("method", "GET") not in _SAFE_METHODS and self._is_foreign(scope):
            app = problem_response(
                403, "sent by a page of another site: serve with --allowed-origin"
            )
        await app(scope, receive, send)

    def _is_foreign(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site")
        if origin in self._allowed or "*" in self._allowed:
            return False
        # browsers send it; a proxy may change Host
        if site is not None:
            return site not in ("same-origin", "none")
        return origin is not None and origin.partition("://")[2] != headers.get("host")


class AllowedHost:
    """ASGI middleware that refuses the requests that starlette refuses, in JSON in place of plain
    text.
    """

    def __init__(self, app: ASGIApp, allowed_hosts: Sequence[str]) -> None:
        self._app = app
        self._check = TrustedHostMiddleware(_accept_request, allowed_hosts, www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusals = []

        async def record_refusal(message: Message) -> None:
            refusals.append(message)

        await self._check(scope, receive, record_refusal)
        app = _FOREIGN_HOST if refusals else self._app
        await app(scope, receive, send)


async def _accept_request(scope: Scope, receive: Receive, send: Send) -> None:
    pass
