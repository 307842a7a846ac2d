"""How answers and errors are sent, and how the OpenAPI document describes them."""

import http
import json

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
        "code": {"type": "string", "description": "Why a file cannot be read, for programs."},
    },
}

_ERROR_DESCRIPTIONS = {
    400: "Not JSON in UTF-8.",
    404: "No such label.",
    408: "The body did not arrive in time.",
    409: "The served model cannot do this.",
    413: "The body is too large.",
    415: "No kind of file that is read here.",
    422: "The request is not as described.",
    503: "Too many requests at once; try again after Retry-After seconds. Or the file cannot be written.",
    507: "The disk is full.",
}

_RETRY_HEADERS = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}


def json_reply(answer):
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), media_type="application/json")


def problem_response(status, detail, headers=None, code=None):
    """An error as an object of RFC 9457; it never repeats what was sent but the names of fields."""
    title = http.HTTPStatus(status).phrase
    body = {"title": title, "status": status, "detail": " ".join(detail.split())}
    if code is not None:
        body["code"] = code
    return Response(json.dumps(body), status, headers, _PROBLEM_TYPE)


def busy_error(detail):
    """The error of a request that may come again."""
    return HTTPException(503, detail, {"Retry-After": "1"})


def describe_validation_error(error):
    """What pydantic found wrong, such as ``"texts.3: String should have at most 1000 characters"``."""
    within = error["loc"][:1] in (("body",), ("query",), ("path",))
    place = ".".join(map(str, error["loc"][within:]))
    return ": ".join(filter(None, [place[:100], error["msg"].removeprefix("Value error, ")]))


def document_route(answer, *statuses, why=_ERROR_DESCRIPTIONS, plain=()):
    """How the OpenAPI document describes a route: the model of its answer, its errors, and those in
    plain text.
    """
    answered = {} if answer is None else {200: {"model": answer}}
    return {
        "response_class": Response,
        "responses": answered
        | {each: _document_error(each, why[each], each in plain) for each in statuses},
    }


def _document_error(status, why, plain):
    content = (
        {"text/plain": {"schema": {"type": "string"}}}
        if plain
        else {_PROBLEM_TYPE: {"schema": _PROBLEM_SCHEMA}}
    )
    return {"description": why, "content": content} | (
        {"headers": _RETRY_HEADERS} if status == 503 else {}
    )
