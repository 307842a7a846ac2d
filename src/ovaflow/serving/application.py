"""The application that runs in each worker: routes, errors, OpenAPI document.

Docstrings of routes are their descriptions in the OpenAPI document.
"""

import asyncio
import contextlib
import gc
import logging
import multiprocessing
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import AwareDatetime
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE

from ovaflow import __version__
from ovaflow.console.errors import InputError
from ovaflow.prediction.sources import NamedColumns
from ovaflow.serving import failures, metrics, schemas
from ovaflow.serving.annif import make_annif_routes
from ovaflow.serving.corrections import Corrections
from ovaflow.serving.dropped_files import CONCURRENT_FILES, WAITING_FILES, make_file_routes
from ovaflow.serving.excluded_labels import ExcludedLabels
from ovaflow.serving.middleware import AllowedHost, BodyLimit, ConnectionCloser, SameOrigin
from ovaflow.serving.pages import choose_page_language, render_documentation, render_pages
from ovaflow.serving.replies import (
    describe_validation_error,
    document_route,
    json_reply,
    problem_response,
)
from ovaflow.serving.scoring_queue import ScoringQueue
from ovaflow.serving.served_model import ServedModel, open_served_model
from ovaflow.serving.service import read_worker_options
from ovaflow.serving.supervisor import RELOAD_FAILURE, START_FAILURE

_log = logging.getLogger(__name__)

_DESCRIPTION = (
    "Labels for texts or features, with scores and reasons. Errors are JSON objects of RFC 9457."
)

_EARLIEST_TIME = datetime(1, 1, 2, tzinfo=UTC)
"""Time before all corrections, which every time zone can express."""

_CLEARER_MESSAGES = {
    "There was an error parsing the body": "the body is not JSON in UTF-8",
    "Not Found": "not found; see /docs",
}
"""Clearer words for messages of the framework."""


def create_application() -> ASGIApp:
    """Create the ASGI application of a worker, ready to answer; each worker calls this."""
    options = read_worker_options()
    try:
        models = _open_models(options)
    except Exception as error:
        _log.error("cannot serve: %s", error, exc_info=not isinstance(error, InputError))
        paths = [*options.models.values(), *options.exclude.values(), options.reranker]
        failures.record_failure(START_FAILURE, failures.describe_error(error, *paths))
        # with this status uvicorn does not start the worker again and again
        sys.exit(STARTUP_FAILURE)
    # the loaded objects stay, so that collecting garbage need not walk them between requests
    gc.freeze()
    metrics.count_worker(served.model.checksum for served in models.values())
    for name, served in models.items():
        message = (
            f"serving model {served.model.checksum} as {name}: {served.model.n_labels:,} labels."
        )
        _log.info("%s", f"{message} {served.remark}".rstrip())
    application = ConnectionCloser(_make_application(models, options))
    return metrics.RequestObserver(application, access_log=options.access_log)


def _open_models(options: SimpleNamespace) -> dict[str, ServedModel]:
    models = {}
    for name, path in options.models.items():
        served = open_served_model(path, options.reranker, rerank=options.rerank)
        excluded = None
        if name in options.exclude:
            excluded = ExcludedLabels(name, served.predictor, options.exclude[name])
        usual_share = served.predictor.usual.unknown_share
        count = metrics.make_word_counter(served.model.checksum, usual_share)
        models[name] = replace(served, count=count, excluded=excluded)
    for served in models.values():
        served.warm_up()
    return models


def _make_application(models: Mapping[str, ServedModel], options: SimpleNamespace) -> FastAPI:
    """Make the application: the first model answers on the page and in the API of ovaflow, all
    models in that of Annif.
    """
    first, served = next(iter(models.items()))
    queue = ScoringQueue(options.threads, options.queue, options.timeout)
    # a slow disk delays no predictions
    disk_queue = ScoringQueue(1, options.queue, options.timeout)
    file_queue = ScoringQueue(CONCURRENT_FILES, WAITING_FILES, options.timeout)
    corrections = {}
    for name, path in options.corrections.items():
        corrections[name] = Corrections(models[name].predictor, path, disk_queue)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        _end_with_the_supervisor()
        yield
        for each in (queue, disk_queue, file_queue):
            each.close()
        supervisor = multiprocessing.parent_process()
        if supervisor is not None and not supervisor.is_alive():
            metrics.remove_metrics()

    app = FastAPI(
        title="ovaflow",
        version=__version__,
        description=_DESCRIPTION,
        root_path=options.root_path.rstrip("/"),
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.add_middleware(BodyLimit, max_bytes=options.max_body, seconds=options.timeout)
    app.add_middleware(SameOrigin, allowed_origins=options.allowed_origin)
    app.add_middleware(AllowedHost, allowed_hosts=options.allowed_host)
    _add_answers(app, served, queue, options)
    _add_corrections(app, served, corrections.get(first), options)
    app.include_router(make_file_routes(file_queue, options))
    app.include_router(make_annif_routes(models, corrections, queue, options))
    _add_pages(app, served, options, saves_corrections=first in corrections)
    _add_errors(app)
    return app


def _end_with_the_supervisor() -> None:
    """End this worker when its supervisor is killed: it would go on and keep the address."""
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        loop = asyncio.get_running_loop()

        def end() -> None:
            loop.remove_reader(supervisor.sentinel)
            signal.raise_signal(signal.SIGTERM)

        loop.add_reader(supervisor.sentinel, end)


def _add_answers(
    app: FastAPI, served: ServedModel, queue: ScoringQueue, options: SimpleNamespace
) -> None:
    PredictRequest, ExplainRequest = schemas.make_request_models(
        options, NamedColumns.from_model(served.predictor.model)
    )

    @app.post(
        "/predict", **document_route(schemas.PredictionsReply, 400, 404, 408, 409, 413, 422, 503)
    )
    async def predict(request: PredictRequest) -> Response:
        """Best labels by descending score: of one text, of several texts, or of instances given by
        their features.
        """
        answer = await queue.run(served.for_request(request).predict, request)
        metrics.INSTANCE_COUNT.inc(len(answer["predictions"]))
        return json_reply(answer)

    @app.post("/explain", **document_route(schemas.Explanation, 400, 404, 408, 409, 413, 422, 503))
    async def explain(request: ExplainRequest) -> Response:
        """Why labels have their scores for a text or an instance: the words for and against
        each.
        """
        return json_reply(await queue.run(served.for_request(request).explain, request))

    @app.get("/labels", **document_route(schemas.LabelPage, 409, 422, 503))
    async def labels(
        search: Annotated[
            str,
            Query(
                max_length=200,
                description="Words that all occur in a name or an alternative name, in any order "
                "and case; a notation or its begin; or a URI or the identifier at its end.",
            ),
        ] = "",
        offset: Annotated[int, Query(ge=0, le=schemas.MAX_LABEL_ID)] = 0,
        limit: Annotated[int, Query(ge=1, le=options.max_top_k)] = min(20, options.max_top_k),
        language: Annotated[
            schemas.Language | None, Query(description=schemas.LANGUAGE_DESCRIPTION)
        ] = None,
    ) -> Response:
        """Labels by name, notation or URI, the best matches first, page by page."""
        named = served.in_language(language)
        return json_reply(await queue.run(named.find_labels, search, offset, limit))

    @app.get("/labels/{label}", **document_route(schemas.LabelDescription, 404, 409, 422, 503))
    async def label(
        label: Annotated[int, Path(ge=0, le=schemas.MAX_LABEL_ID)],
        words: Annotated[int, Query(ge=1, le=schemas.MAX_WORDS)] = 10,
        nearest: Annotated[int, Query(ge=1, le=options.max_top_k)] = min(10, options.max_top_k),
        language: Annotated[
            schemas.Language | None, Query(description=schemas.LANGUAGE_DESCRIPTION)
        ] = None,
    ) -> Response:
        """A label with its strongest words and its nearest labels."""
        named = served.in_language(language)
        return json_reply(await queue.run(named.describe_label, label, words, nearest))


def _add_corrections(
    app: FastAPI, served: ServedModel, corrections: Corrections | None, options: SimpleNamespace
) -> None:
    CorrectionRequest, FindRequest = schemas.make_correction_models(
        options, NamedColumns.from_model(served.predictor.model)
    )

    async def require_file() -> Corrections:
        if corrections is None:
            raise HTTPException(409, "no corrections are saved: serve with --corrections FILE")
        return corrections

    File = Annotated[Corrections, Depends(require_file)]

    @app.post(
        "/corrections",
        **document_route(schemas.SavedCorrection, 400, 404, 408, 409, 413, 422, 503, 507),
    )
    async def correct(file: File, request: CorrectionRequest) -> Response:
        """Saves the labels that a person chose for a text, for the next training; this model stays
        as it is. A correction of a version that is not saved any more is refused with 409.
        """
        named = served.for_request(request).predictor
        try:
            [saved] = await file.save([request], named)
        except InputError as error:
            raise HTTPException(404, str(error)) from None
        return json_reply({"model": served.model.checksum} | saved)

    @app.get(
        "/corrections",
        **document_route(schemas.CorrectionPage, 409, 422, 503),
    )
    async def corrected(
        file: File,
        since: Annotated[
            AwareDatetime, Query(description="Only records saved at this time or later.")
        ] = _EARLIEST_TIME,
        limit: Annotated[int, Query(ge=1, le=options.max_top_k)] = min(20, options.max_top_k),
        language: Annotated[
            schemas.Language | None, Query(description=schemas.LANGUAGE_DESCRIPTION)
        ] = None,
    ) -> Response:
        """Records that were corrected, as they were saved last, the last one first."""
        total, records = await file.since(since, limit, served.in_language(language).predictor)
        return json_reply({"model": served.model.checksum, "total": total, "corrections": records})

    @app.post(
        "/corrections/find",
        **document_route(schemas.FoundCorrection, 400, 408, 409, 413, 422, 503),
    )
    async def find_correction(file: File, request: FindRequest) -> Response:
        """What was saved last of a record, found by its id or else by its text."""
        found = await file.find(request, served.for_request(request).predictor)
        return json_reply({"model": served.model.checksum, "correction": found})


def _add_pages(
    app: FastAPI, served: ServedModel, options: SimpleNamespace, *, saves_corrections: bool
) -> None:
    by_language = render_pages(options, served.form_fields, saves_corrections=saves_corrections)

    @app.get("/health", **document_route(schemas.Health))
    async def health() -> Response:
        """Whether requests are answered, and by which model."""
        return json_reply(
            served.health() | {"reload_failed": failures.read_failure(RELOAD_FAILURE)}
        )

    @app.get(
        "/metrics", responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
    )
    async def figures() -> Response:
        """Figures for Prometheus."""
        return Response(metrics.render_metrics(), media_type=CONTENT_TYPE_LATEST)

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def read_page(request: Request, lang: str | None = None) -> HTMLResponse:
        accepted = request.headers.get("accept-language", "")
        return by_language[choose_page_language(accepted, lang)]

    @app.api_route("/docs", methods=["GET", "HEAD"], include_in_schema=False)
    async def read_docs() -> HTMLResponse:
        return render_documentation(app.openapi())


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(AnyHTTPException)
    async def reply_to_refusal(request: Request, error: AnyHTTPException) -> Response:
        detail = _CLEARER_MESSAGES.get(error.detail, error.detail)
        members = getattr(error, "members", {})
        return problem_response(error.status_code, detail, error.headers, **members)

    @app.exception_handler(RequestValidationError)
    async def reply_to_invalid_request(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            _, character = first["loc"]
            reason = f"{first['ctx']['error']}, character {character}"
            return problem_response(400, f"the body is not JSON: {reason}")
        if tuple(first["loc"]) == ("body",) and first["type"] != "value_error":
            return problem_response(
                422, "the body must be a JSON object, with Content-Type: application/json"
            )
        return problem_response(422, describe_validation_error(first))

    @app.exception_handler(Exception)
    async def reply_to_failure(request: Request, error: Exception) -> Response:
        return problem_response(500, "the service failed; its log says why")
