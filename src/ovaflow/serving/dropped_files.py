"""Texts of files that people drop on the page; a process of its own, which can be killed, reads
each file.
"""

import importlib.util
import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ovaflow.reading.documents import DOCUMENT_READERS, UNREADABLE_REASONS, detect_kind
from ovaflow.serving import schemas
from ovaflow.serving.reading_process import KILLING_SECONDS
from ovaflow.serving.replies import ExtendedProblem, document_route, json_reply
from ovaflow.serving.scoring_queue import ScoringQueue

CONCURRENT_FILES = 2
"""Files that a worker reads at the same time: each takes a processor core."""
WAITING_FILES = 8
"""Files that wait for a worker to read them: more would time out."""

_FILE_CONTENT = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


def make_file_routes(queue: ScoringQueue, options: SimpleNamespace) -> APIRouter:
    """Make the route that reads files."""
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
    ) -> Response:
        """The plain text of a file, which is the body: text, Markdown, HTML or PDF."""
        content = await request.body()
        kind = _require_kind(name, content)
        return json_reply(await queue.run(_read_in_process, kind, content, options.max_text))

    return router


def _require_kind(name: str, content: bytes) -> str:
    kind = detect_kind(name, content)
    if kind is None:
        kinds = ", ".join(DOCUMENT_READERS)
        detail = f"files of this kind are not read; these are: {kinds}"
        raise ExtendedProblem(415, detail, code="kind")
    if kind == ".pdf" and importlib.util.find_spec("pypdf") is None:
        detail = "PDF files need pypdf where the service runs: pip install 'ovaflow[pdf]'"
        raise ExtendedProblem(415, detail, code="pypdf")
    return kind


def _read_in_process(kind: str, content: bytes, max_characters: int) -> dict[str, Any]:
    # -P: no module of the current folder is imported
    module = ["-P", "-m", "ovaflow.serving.reading_process"]
    command = [sys.executable, *module, kind, str(max_characters)]
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
        # a process that fails was perhaps ended by one of its limits
        answer = {"code": "damaged"} if process.returncode else json.loads(process.stdout)
    if "code" in answer:
        code = answer["code"]
        raise ExtendedProblem(422, UNREADABLE_REASONS[code], code=code)
    return answer | {"characters": len(answer["text"])}
