"""HTTP connections with deadlines and bounds that uvicorn's own lack."""

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ovaflow.serving import problems

LONGEST_HEAD = 1 << 16
"""Bytes of a request line with its headers."""


def protocol_within(limits, count_refusal):
    """A protocol class for uvicorn.

    Parameters
    ----------
    limits : ovaflow.serving.limits.Limits
    count_refusal : callable
        Told the status of what is refused before it is a request.

    Returns
    -------
    type
    """
    return type(
        "BoundedProtocol", (_BoundedProtocol,), {"limits": limits, "count_refusal": staticmethod(count_refusal)}
    )


class _BoundedProtocol(HttpToolsProtocol):
    limits = count_refusal = None
    _head_timer = None
    _write_timer = None
    _head_bytes = 0

    def connection_made(self, transport):
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(503, "too many open connections", (b"retry-after: 1\r\n",))
        else:
            self._await_head()

    def connection_lost(self, exc):
        self._head_timer = _cancelled(self._head_timer)
        self._write_timer = _cancelled(self._write_timer)
        super().connection_lost(exc)

    def data_received(self, data):
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            self._head_bytes += len(data)
            self._await_head()
            if self._head_bytes > LONGEST_HEAD:
                self._refuse(431, f"request line and headers have more than {LONGEST_HEAD} bytes")
        else:
            self._head_timer, self._head_bytes = _cancelled(self._head_timer), 0

    def send_400_response(self, msg):
        self._refuse(400, "not a valid HTTP request")

    def pause_writing(self):
        super().pause_writing()
        self._write_timer = self.loop.call_later(self.limits.request_seconds, self.transport.abort)

    def resume_writing(self):
        self._write_timer = _cancelled(self._write_timer)
        super().resume_writing()

    def _await_head(self):
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.limits.head_seconds, self._head_is_late)

    def _head_is_late(self):
        self._refuse(408, f"no request within {self.limits.head_seconds:g} s")

    def _refuse(self, status, detail, headers=()):
        self.count_refusal(status)
        body = problems.body_of(status, detail)
        content = [STATUS_LINE[status], b"content-type: %s\r\n" % problems.MEDIA_TYPE.encode(), *headers]
        content += [b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body), body]
        self.transport.write(b"".join(content))
        self.transport.close()


def _cancelled(timer):
    if timer is not None:
        timer.cancel()
