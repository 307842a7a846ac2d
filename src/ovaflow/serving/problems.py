"""Errors as one JSON object of RFC 9457 each; they never repeat what was sent but the names of fields."""

import http
import json

from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"

_LONGEST = 200


class Problem(Exception):
    """A request that is answered by an error.

    Parameters
    ----------
    status : int
    detail : str
        What is wrong, in one line.
    retry_after : int, optional
        Seconds after which the client may try again.
    """

    def __init__(self, status, detail, retry_after=None):
        super().__init__(detail)
        self.status, self.detail = status, " ".join(detail.split())
        self.headers = {} if retry_after is None else {"Retry-After": str(retry_after)}


def body_of(status, detail):
    """The object that tells of an error.

    Parameters
    ----------
    status : int
    detail : str

    Returns
    -------
    bytes
        One line of JSON.
    """
    return json.dumps({"title": http.HTTPStatus(status).phrase, "status": status, "detail": detail}).encode()


def response_to(problem):
    """The answer that tells of an error.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    starlette.responses.Response
    """
    body = body_of(problem.status, problem.detail)
    return Response(body, problem.status, problem.headers, MEDIA_TYPE)


def describe(errors):
    """Say in one line what pydantic found wrong.

    Parameters
    ----------
    errors : sequence of dict
        With ``loc`` and ``msg``.

    Returns
    -------
    str
        Such as ``"texts.3: String should have at most 1000 characters"``.
    """
    shown = [": ".join(filter(None, [_place(error["loc"]), _said(error["msg"])])) for error in errors[:3]]
    more = f" (and {len(errors) - 3} more)" if len(errors) > 3 else ""
    return "; ".join(shown) + more


def _said(message):
    return message.removeprefix("Value error, ")


def _place(location):
    where = ".".join(str(part) for part in location if part not in ("body", "query", "path"))
    return where if len(where) <= _LONGEST else where[: _LONGEST - 1] + "…"
