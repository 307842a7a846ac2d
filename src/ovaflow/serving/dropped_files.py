"""The text of a file that somebody drops on the page; each is read by a process of its own, which
can be killed.
"""

import importlib.util
import json
import subprocess
import sys
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request

from ovaflow.reading.documents import DOCUMENT_READERS, UNREADABLE_REASONS, detect_kind
from ovaflow.serving import schemas
from ovaflow.serving.reading_process import KILLING_SECONDS
from ovaflow.serving.replies import document_route, json_reply

CONCURRENT_FILES = 2
WAITING_FILES = 8
"""Files that a worker reads at the same time, and that wait."""

_FILE_CONTENT = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


class UnreadableFile(HTTPException):
    """A file that cannot be read, and a code of why, for programs."""

    def __init__(self, status, code, detail) -> None:
        super().__init__(status, detail)
        self.code = code


def make_file_routes(queue, options):
    router = APIRouter()

    @router.post(
        "/texts",
        openapi_extra={"requestBody": {"content": _FILE_CONTENT, "required": True}},
        **document_route(schemas.FileText, 408, 413, 415, 422, 503),
    )
    async def read_file(
        request: Request,
        name: Annotated[
            str, Query(min_length=1, max_length=1000, description="Its ending says what it is.")
        ],
    ):
        """The plain text of a file, which is the body: text, Markdown, HTML or PDF."""
        content = await request.body()
        kind = _require_kind(name, content)
        return json_reply(await queue.run(_read_in_process, kind, content, options.max_text))

    return router


def _require_kind(name, content):
    kind = detect_kind(name, content)
    if kind is None:
        raise UnreadableFile(
            415, "kind", f"files of this kind are not read, but {', '.join(DOCUMENT_READERS)}"
        )
    if kind == ".pdf" and importlib.util.find_spec("pypdf") is None:
        raise UnreadableFile(
            415, "pypdf", "PDF files need pypdf where the service runs: pip install 'ovaflow[pdf]'"
        )
    return kind


def _read_in_process(kind, content, most):
    # -P: no module of the current folder is imported
    command = [sys.executable, "-P", "-m", "ovaflow.serving.reading_process", kind, str(most)]
    try:
        process = subprocess.run(
            command,
            input=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=KILLING_SECONDS,
        )
    except subprocess.TimeoutExpired:
        answer = {"code": "too_slow"}
    else:
        # it may have been ended by one of its limits
        answer = {"code": "damaged"} if process.returncode else json.loads(process.stdout)
    if "code" in answer:
        raise UnreadableFile(422, answer["code"], UNREADABLE_REASONS[answer["code"]])
    return answer | {"characters": len(answer["text"])}
