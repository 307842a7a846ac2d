"""What uvicorn itself refuses, as objects of RFC 9457 in place of plain text."""

import h11
from uvicorn.protocols.http import h11_impl

from ovaflow.serving.replies import problem

h11_impl.service_unavailable = problem(
    503, "too many connections: serve with --max-connections", {"Retry-After": "1", "Connection": "close"}
)


class Protocol(h11_impl.H11Protocol):
    """HTTP/1.1 on one connection."""

    def send_400_response(self, msg):
        """Refuse bytes that are no request, and close the connection."""
        answer = problem(400, msg, {"Connection": "close"})
        events = h11.Response(status_code=400, headers=answer.raw_headers), h11.Data(answer.body), h11.EndOfMessage()
        for event in events:
            self.transport.write(self.conn.send(event))
        self.transport.close()
