"""The application that runs in each worker: routes, errors, OpenAPI."""

import asyncio
import contextlib
import gc
import logging
import multiprocessing
import signal
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import AwareDatetime
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.responses import Response
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
from ovaflow.serving.served_model import open_served_model
from ovaflow.serving.service import read_worker_options
from ovaflow.serving.supervisor import RELOAD_FAILURE, START_FAILURE

_log = logging.getLogger(__name__)

_DESCRIPTION = (
    "Labels for texts or features, with scores and reasons. Errors are JSON objects of RFC 9457."
)

_EARLIEST_TIME = datetime(1, 1, 2, tzinfo=UTC)

_CLEARER_MESSAGES = {
    "There was an error parsing the body": "the body is not JSON in UTF-8",
    "Not Found": "not found; see /docs",
}
"""Messages of the framework, in clearer words."""


def create_application():
    """The ASGI application of a worker, ready to answer; uvicorn calls this in each."""
    options = read_worker_options()
    try:
        models = {}
        for name, path in options.models.items():
            served = open_served_model(path, options.reranker, options.rerank)
            excluded = options.exclude.get(name)
            left_out = excluded and ExcludedLabels(name, served.predictor, excluded)
            models[name] = replace(
                served, count=metrics.make_word_counter(served), left_out=left_out
            )
        for served in models.values():
            served.warm_up()
    except Exception as error:
        _log.error("cannot serve: %s", error, exc_info=not isinstance(error, InputError))
        paths = *options.models.values(), *options.exclude.values(), options.reranker
        failures.record_failure(START_FAILURE, failures.describe_error(error, *paths))
        sys.exit(STARTUP_FAILURE)  # so that uvicorn does not start this worker again and again
    # what is loaded now stays, so that collecting garbage need not walk it between requests
    gc.freeze()
    metrics.count_worker(served.model.checksum for served in models.values())
    for name, served in models.items():
        message = (
            f"serving model {served.model.checksum} as {name}: {served.model.n_labels:,} labels."
        )
        _log.info("%s", f"{message} {served.remark}".rstrip())
    return metrics.RequestObserver(
        ConnectionCloser(_make_application(models, options)), options.access_log
    )


def _make_application(models, options):
    """The first model answers on the page and in the interface of ovaflow, all of them in that of
    Annif.
    """
    first, served = next(iter(models.items()))
    queue = ScoringQueue(options.threads, options.queue, options.timeout)
    # a slow disk keeps nobody waiting for predictions
    disk_queue = ScoringQueue(1, options.queue, options.timeout)
    file_queue = ScoringQueue(CONCURRENT_FILES, WAITING_FILES, options.timeout)
    corrections = {}
    for name, path in options.corrections.items():
        corrections[name] = Corrections(models[name].predictor, path, disk_queue)

    @contextlib.asynccontextmanager
    async def lifespan(app):
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
    app.add_middleware(BodyLimit, largest=options.max_body, seconds=options.timeout)
    app.add_middleware(SameOrigin, allowed_origins=options.allowed_origin)
    app.add_middleware(AllowedHost, allowed_hosts=options.allowed_host)
    _add_answers(app, served, queue, options)
    _add_corrections(app, served, corrections.get(first), options)
    app.include_router(make_file_routes(file_queue, options))
    app.include_router(make_annif_routes(models, corrections, queue, options))
    _add_pages(app, served, first in corrections, options)
    _add_errors(app)
    return app


def _end_with_the_supervisor() -> None:
    """A worker whose supervisor was killed would go on unseen, and keep the address."""
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        loop = asyncio.get_running_loop()

        def end() -> None:
            loop.remove_reader(supervisor.sentinel)
            signal.raise_signal(signal.SIGTERM)

        loop.add_reader(supervisor.sentinel, end)


def _add_answers(app, served, queue, options):
    PredictRequest, ExplainRequest = schemas.make_request_models(
        options, NamedColumns.of(served.predictor.model)
    )

    @app.post(
        "/predict", **document_route(schemas.PredictionsReply, 400, 404, 408, 409, 413, 422, 503)
    )
    async def predict(request: PredictRequest):
        """Best labels by descending score: of one text, of several texts, or of instances given by
        their features.
        """
        answer = await queue.run(served.for_request(request).predict, request)
        metrics.INSTANCE_COUNT.inc(len(answer["predictions"]))
        return json_reply(answer)

    @app.post("/explain", **document_route(schemas.Explanation, 400, 404, 408, 409, 413, 422, 503))
    async def explain(request: ExplainRequest):
        """Why labels have their scores for a text or an instance: the words for and against each."""
        return json_reply(await queue.run(served.for_request(request).explain, request))

    @app.get("/labels", **document_route(schemas.LabelPage, 409, 422, 503))
    async def labels(
        search: Annotated[
            str, Query(max_length=200, description="Part of a name, in any case.")
        ] = "",
        offset: Annotated[int, Query(ge=0, le=schemas.MAX_LABEL_ID)] = 0,
        limit: Annotated[int, Query(ge=1, le=options.max_top_k)] = min(20, options.max_top_k),
        language: Annotated[
            schemas.Language | None, Query(description=schemas.LANGUAGE_DESCRIPTION)
        ] = None,
    ):
        """Labels by name, page by page."""
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
    ):
        """A label with its strongest words and its nearest labels."""
        named = served.in_language(language)
        return json_reply(await queue.run(named.describe_label, label, words, nearest))


def _add_corrections(app, served, corrections, options):
    CorrectionRequest, FindRequest = schemas.make_correction_models(
        options, NamedColumns.of(served.predictor.model)
    )

    async def require_file() -> None:
        if corrections is None:
            raise HTTPException(409, "no corrections are saved: serve with --corrections FILE")

    @app.post(
        "/corrections",
        dependencies=[Depends(require_file)],
        **document_route(schemas.SavedCorrection, 400, 404, 408, 409, 413, 422, 503, 507),
    )
    async def correct(request: CorrectionRequest):
        """Saves the labels that a person chose for a text, for the next training; this model stays
        as it is.
        """
        try:
            [saved] = await corrections.save([request])
        except InputError as error:
            raise HTTPException(404, str(error)) from None
        return json_reply({"model": served.model.checksum} | saved)

    @app.get(
        "/corrections",
        dependencies=[Depends(require_file)],
        **document_route(schemas.CorrectionPage, 409, 422, 503),
    )
    async def corrected(
        since: Annotated[AwareDatetime, Query(description="Saved then or later.")] = _EARLIEST_TIME,
        limit: Annotated[int, Query(ge=1, le=options.max_top_k)] = min(20, options.max_top_k),
        language: Annotated[
            schemas.Language | None, Query(description=schemas.LANGUAGE_DESCRIPTION)
        ] = None,
    ):
        """Records that were corrected, as they were saved last, the last one first."""
        total, records = await corrections.since(
            since, limit, served.in_language(language).predictor
        )
        return json_reply({"model": served.model.checksum, "total": total, "corrections": records})

    @app.post(
        "/corrections/find",
        dependencies=[Depends(require_file)],
        **document_route(schemas.FoundCorrection, 400, 408, 409, 413, 422, 503),
    )
    async def find_correction(request: FindRequest):
        """What was saved last of a record, found by its id or else by its text."""
        found = await corrections.find(request, served.for_request(request).predictor)
        return json_reply({"model": served.model.checksum, "correction": found})


def _add_pages(app, served, corrects, options):
    by_language = render_pages(options, corrects, served.form_fields)

    @app.get("/health", **document_route(schemas.Health))
    async def health():
        """Whether requests are answered, and by which model."""
        return json_reply(
            served.health() | {"reload_failed": failures.read_failure(RELOAD_FAILURE)}
        )

    @app.get(
        "/metrics", responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
    )
    async def figures():
        """Figures for Prometheus."""
        return Response(metrics.render_metrics(), media_type=CONTENT_TYPE_LATEST)

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def read_page(request: Request, lang: str | None = None):
        return by_language[choose_page_language(request.headers.get("accept-language", ""), lang)]

    @app.api_route("/docs", methods=["GET", "HEAD"], include_in_schema=False)
    async def read_docs():
        return render_documentation(app.openapi())


def _add_errors(app):
    @app.exception_handler(AnyHTTPException)
    async def of_http(request, error):
        detail = _CLEARER_MESSAGES.get(error.detail, error.detail)
        code = getattr(error, "code", None)
        return problem_response(error.status_code, detail, error.headers, code)

    @app.exception_handler(RequestValidationError)
    async def of_validation(request, error):
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            _, place = first["loc"]
            return problem_response(
                400, f"the body is not JSON: {first['ctx']['error']}, character {place}"
            )
        if tuple(first["loc"]) == ("body",) and first["type"] != "value_error":
            return problem_response(
                422, "the body must be a JSON object, with Content-Type: application/json"
            )
        return problem_response(422, describe_validation_error(first))

    @app.exception_handler(Exception)
    async def of_ours(request, error):
        return problem_response(500, "the service failed; its log says why")
