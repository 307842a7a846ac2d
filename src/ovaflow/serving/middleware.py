"""What stands between a client and the routes: who may ask, how much they may send, and how
connections end.
"""

import asyncio
import signal

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware

from ovaflow.serving.replies import busy_error, problem_response

_MAX_HELD_BODIES = 32
"""A worker holds so many bodies of the largest size at the same time, or more smaller ones."""

_CLOSING_SECONDS = 1
"""A worker that was told to end goes on for so long, so that clients open their next connection to
another.
"""

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

_FOREIGN_HOST = problem_response(
    400, "called by a name that is not allowed: serve with --allowed-host"
)


class ConnectionCloser:
    """ASGI middleware that lets clients leave before uvicorn closes connections, as one may just
    send a request.
    """

    def __init__(self, app) -> None:
        self._app = app
        self._is_ending = False

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] == "lifespan":
            self._end_later(asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM))

        async def send_and_close(message) -> None:
            if self._is_ending and message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        await self._app(scope, receive, send_and_close)

    def _end_later(self, loop, end) -> None:
        def begin() -> None:
            self._is_ending = True
            loop.call_later(_CLOSING_SECONDS, end, signal.SIGTERM, None)

        loop.add_signal_handler(signal.SIGTERM, begin)


class BodyLimit:
    """ASGI middleware that refuses bodies that are too large, arrive too slowly, or are too many at
    the same time.
    """

    def __init__(self, app, largest, seconds) -> None:
        self._app = app
        self._largest = largest
        self._seconds = seconds
        self._held = 0  # bytes of all requests that have not been answered

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = int(dict(scope["headers"]).get(b"content-length", 0))
        size = 0
        deadline = asyncio.get_running_loop().time() + self._seconds

        async def receive_and_count():
            nonlocal size
            if announced <= self._largest:
                message = await self._receive_until(deadline, receive)
                added = len(message.get("body", b""))
                size += added
                self._held += added
            if max(announced, size) > self._largest:
                raise HTTPException(413, f"the body has more than {self._largest} bytes")
            if self._held > _MAX_HELD_BODIES * self._largest:
                raise busy_error(
                    f"the requests being received have more than {_MAX_HELD_BODIES * self._largest} bytes"
                )
            return message

        try:
            await self._app(scope, receive_and_count, send)
        finally:
            self._held -= size

    async def _receive_until(self, deadline, receive):
        try:
            async with asyncio.timeout_at(deadline):
                return await receive()
        except TimeoutError:
            detail = f"the body did not arrive within {self._seconds:g} s"
            raise HTTPException(408, detail, {"Connection": "close"}) from None


class SameOrigin:
    """ASGI middleware that refuses what pages of other sites make a browser send, with status 403."""

    def __init__(self, app, allowed_origins) -> None:
        self._app = app
        self._allowed = allowed_origins

    async def __call__(self, scope, receive, send) -> None:
        app = self._app
        if scope.get("method", "GET") not in _SAFE_METHODS and self._is_foreign(
            Headers(scope=scope)
        ):
            app = problem_response(
                403, "sent by a page of another site: serve with --allowed-origin"
            )
        await app(scope, receive, send)

    def _is_foreign(self, headers):
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site")
        if origin in self._allowed or "*" in self._allowed:
            return False
        if site is not None:  # behind a proxy, too, which may change Host
            return site not in ("same-origin", "none")
        return origin is not None and origin.partition("://")[2] != headers.get("host")


class AllowedHost:
    """ASGI middleware that refuses what starlette refuses, but not in plain text."""

    def __init__(self, app, allowed_hosts) -> None:
        self._app = app
        self._check = TrustedHostMiddleware(_accept_request, allowed_hosts, www_redirect=False)

    async def __call__(self, scope, receive, send) -> None:
        refused = []

        async def note(message) -> None:
            refused.append(message)

        await self._check(scope, receive, note)
        await (_FOREIGN_HOST if refused else self._app)(scope, receive, send)


async def _accept_request(scope, receive, send) -> None:
    pass
