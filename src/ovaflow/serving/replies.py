"""Replies and errors of the service, and their description in the OpenAPI document."""

import http
import json
from collections.abc import Mapping
from typing import Any

from fastapi import HTTPException
from starlette.responses import Response

_PROBLEM_TYPE = "application/problem+json"

_PROBLEM_SCHEMA = {
    "type": "object",
    "required": ["title", "status", "detail"],
    "properties": {
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string", "description": "Why, for programs."},
        "correction": {
            "type": "object",
            "description": "With the code stale: what is saved of the record now, as in "
            "/corrections/find.",
        },
    },
}

_ERROR_DESCRIPTIONS = {
    400: "Not JSON in UTF-8.",
    404: "No such label.",
    408: "The body did not arrive in time.",
    409: "The served model cannot do this, or (code stale) what is saved is of another version.",
    413: "The body is too large.",
    415: "The kind of the file is not read here.",
    422: "The request is not as described.",
    503: "Too many requests at once; try again after Retry-After seconds. "
    "Or the file cannot be written.",
    507: "The disk is full.",
}

_RETRY_HEADERS = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}

_MAX_PLACE_CHARACTERS = 100
"""Characters of a field's place that an error repeats; clients may name fields as they like."""


def json_reply(answer: Any) -> Response:
    """Make a reply of compact JSON in UTF-8."""
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), media_type="application/json")


class ExtendedProblem(HTTPException):
    """A refusal with further members, for programs."""

    def __init__(self, status: int, detail: str, **members: Any) -> None:
        super().__init__(status, detail)
        self.members = members


def problem_response(
    status: int, detail: str, headers: Mapping[str, str] | None = None, **members: Any
) -> Response:
    """Make an error, an object of RFC 9457 with further members.

    It repeats nothing of a request but the names of fields.
    """
    title = http.HTTPStatus(status).phrase
    body = {"title": title, "status": status, "detail": " ".join(detail.split())} | members
    return Response(json.dumps(body), status, headers, _PROBLEM_TYPE)


def busy_error(detail: str) -> HTTPException:
    """Make the error of a request that may come again."""
    return HTTPException(503, detail, {"Retry-After": "1"})


def describe_validation_error(error: Mapping[str, Any]) -> str:
    """Describe an error of pydantic, for instance
    ``"texts.3: String should have at most 1000 characters"``.
    """
    location = error["loc"]
    if location[:1] in (("body",), ("query",), ("path",)):
        location = location[1:]
    place = ".".join(str(part) for part in location)[:_MAX_PLACE_CHARACTERS]
    message = error["msg"].removeprefix("Value error, ")
    if not place:
        return message
    if not message:
        return place
    return f"{place}: {message}"


def document_route(
    answer: Any,
    *statuses: int,
    descriptions: Mapping[int, str] = _ERROR_DESCRIPTIONS,
    plain_text: tuple[int, ...] = (),
) -> dict[str, Any]:
    """Describe a route in the OpenAPI document.

    Parameters
    ----------
    answer : type or None
        Model of the answer; None if there is no content.
    *statuses : int
        Statuses of its errors.
    descriptions : mapping
        Sentence for each status.
    plain_text : tuple of int
        Statuses whose errors are plain text.

    Returns
    -------
    dict
        Keyword arguments of the route's decorator.
    """
    responses: dict[int, dict[str, Any]] = {}
    if answer is not None:
        responses[200] = {"model": answer}
    for status in statuses:
        responses[status] = _document_error(
            status, descriptions[status], plain_text=status in plain_text
        )
    return {"response_class": Response, "responses": responses}


def _document_error(status: int, description: str, *, plain_text: bool) -> dict[str, Any]:
    content: dict[str, Any] = {_PROBLEM_TYPE: {"schema": _PROBLEM_SCHEMA}}
    if plain_text:
        content = {"text/plain": {"schema": {"type": "string"}}}
    document: dict[str, Any] = {"description": description, "content": content}
    if status == http.HTTPStatus.SERVICE_UNAVAILABLE:
        document["headers"] = _RETRY_HEADERS
    return document
