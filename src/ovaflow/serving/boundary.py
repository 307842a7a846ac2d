"""What happens to every request before and after the application: bounds, headers, figures, the log."""

import asyncio
import time

from ovaflow.serving.problems import Problem, response_to

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")

_DRAINED = 16
"""Of a body that is too large, so many times what is allowed is read, so that its sender hears why it is refused."""


class Boundary:
    """ASGI middleware around the whole application.

    Parameters
    ----------
    app : ASGI application
    limits : ovaflow.serving.limits.Limits
    metrics : ovaflow.serving.metrics.Metrics
    log : callable, optional
        Told of each request in one line, without what was sent and without who sent it.
    """

    def __init__(self, app, limits, metrics, log=None):
        self._app, self._limits, self._metrics, self._log = app, limits, metrics, log

    async def __call__(self, scope, receive, send):
        """Answer a request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        exchange = _Exchange(send, lambda: self._note(scope, exchange))
        try:
            body = await self._body(scope, receive)
            if body is not None:
                await self._app(scope, _replay(body, receive), exchange.send)
        except Problem as problem:
            await response_to(problem)(scope, receive, exchange.send)
        except Exception:
            if not exchange.status:
                await response_to(Problem(500, "the service failed; its log says why"))(scope, receive, exchange.send)
            raise
        finally:
            exchange.finish()

    def _note(self, scope, exchange):
        route = getattr(scope.get("route"), "path", "other")
        seconds = time.perf_counter() - exchange.started
        status = exchange.status or 499  # the client went away first
        self._metrics.count_request(route, status, seconds)
        if self._log is not None:
            self._log(f"{scope['method'][:10]} {route} {status} {1000 * seconds:.1f} ms, {exchange.sent} bytes")

    async def _body(self, scope, receive):
        """The whole body; None if the client went away."""
        largest = self._limits.body_bytes
        headers = dict(scope["headers"])
        announced = headers.get(b"content-length", b"")
        if announced.isdigit() and int(announced) > largest and headers.get(b"expect", b"").lower() == b"100-continue":
            raise _too_large(largest)
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                return await _read(receive, largest)
        except TimeoutError:
            raise Problem(408, f"the body did not arrive within {self._limits.request_seconds:g} s") from None


async def _read(receive, largest):
    body, size = bytearray(), 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        piece = message.get("body", b"")
        size += len(piece)
        if size <= largest:
            body += piece
        if size > _DRAINED * largest or (size > largest and not message.get("more_body", False)):
            raise _too_large(largest)
        if not message.get("more_body", False):
            return bytes(body)


def _too_large(largest):
    return Problem(413, f"the body has more than {largest} bytes")


def _replay(body, receive):
    """A body that has been read, as the application asks for it."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed():
        return messages.pop() if messages else await receive()

    return replayed


class _Exchange:
    """What is sent in answer to a request."""

    def __init__(self, send, note):
        self.started, self.status, self.sent = time.perf_counter(), 0, 0
        self._send, self._note = send, note

    async def send(self, message):
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = {name for name, _ in message["headers"]}
            own = [header for header in (*_HEADERS, _POLICY) if header[0] not in given]
            message = {**message, "headers": [*message["headers"], *own]}
        else:
            self.sent += len(message.get("body", b""))
            if not message.get("more_body", False):
                self.finish()  # before the client has it: who asks for figures then finds this request among them
        await self._send(message)

    def finish(self):
        """Note the request, once."""
        if self._note is not None:
            self._note()
            self._note = None
