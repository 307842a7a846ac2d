"""The routes of the service and its OpenAPI document."""

import json
from typing import Annotated

from fastapi import FastAPI, Path, Query
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ovaflow import __version__
from ovaflow.serving import answers, pages, schemas
from ovaflow.serving.problems import MEDIA_TYPE, Problem, describe, response_to

_DESCRIPTION = "Labels for texts or features, with scores and reasons. Errors are JSON objects of RFC 9457."

_PROBLEM = {
    "type": "object",
    "required": ["title", "status", "detail"],
    "properties": {"title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"}},
}

_WHY = {
    400: "Not JSON in UTF-8.",
    404: "No such label.",
    408: "The body came too slowly.",
    409: "The served model cannot do this.",
    413: "The body is too large.",
    422: "The request is not as described.",
    503: "Too much is asked at once; try again after Retry-After seconds.",
}

_SAID = {400: "the body is not JSON in UTF-8", 404: "nothing is here; see /docs"}
"""Instead of what the framework says."""

_RETRY = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}


def application(reloading, queue, limits, metrics, root_path=""):
    """The ASGI application without its boundary.

    Parameters
    ----------
    reloading : ovaflow.serving.reloading.Reloading
        Holds the model.
    queue : ovaflow.serving.scoring_queue.ScoringQueue
    limits : ovaflow.serving.limits.Limits
    metrics : ovaflow.serving.metrics.Metrics
    root_path : str
        Where a proxy offers the service, such as ``"/labels-of-texts"``.

    Returns
    -------
    fastapi.FastAPI
    """
    app = FastAPI(
        title="ovaflow",
        version=__version__,
        description=_DESCRIPTION,
        root_path=root_path,
        docs_url=None,
        redoc_url=None,
    )
    _add_answers(app, reloading, queue, limits, metrics)
    _add_figures(app, reloading, metrics)
    _add_pages(app, limits)
    _add_errors(app)
    return app


def _add_answers(app, reloading, queue, limits, metrics):
    PredictRequest, ExplainRequest = schemas.requests_within(limits)

    @app.post("/predict", **_documented(schemas.Predictions, 400, 408, 409, 413, 422, 503))
    async def predict(request: PredictRequest):
        """Best labels by falling score: of one text, of several texts, or of instances given by their features."""
        answer = await queue.run(answers.predict, reloading.served, request)
        metrics.count_instances(len(answer["predictions"]))
        return _json(answer)

    @app.post("/explain", **_documented(schemas.Explanation, 400, 404, 408, 409, 413, 422, 503))
    async def explain(request: ExplainRequest):
        """Why labels have their scores for a text or an instance: the words for and against each."""
        return _json(await queue.run(answers.explain, reloading.served, request))

    @app.get("/labels", **_documented(schemas.LabelPage, 422, 503))
    async def labels(
        search: Annotated[str, Query(max_length=200, description="Part of a name, in any case.")] = "",
        offset: Annotated[int, Query(ge=0, le=schemas.LARGEST_ID)] = 0,
        limit: Annotated[int, Query(ge=1, le=limits.top_k)] = min(20, limits.top_k),
    ):
        """Labels by name, page by page."""
        return _json(await queue.run(answers.find_labels, reloading.served, search, offset, limit))

    @app.get("/labels/{label}", **_documented(schemas.LabelDescription, 404, 422, 503))
    async def label(
        label: Annotated[int, Path(ge=0, le=schemas.LARGEST_ID)],
        words: Annotated[int, Query(ge=1, le=limits.words)] = min(10, limits.words),
        nearest: Annotated[int, Query(ge=1, le=limits.top_k)] = min(10, limits.top_k),
    ):
        """A label with its strongest words and its nearest labels."""
        return _json(await queue.run(answers.describe_label, reloading.served, label, words, nearest))


def _add_figures(app, reloading, metrics):
    @app.get("/health", **_documented(schemas.Health))
    async def health():
        """Whether requests are answered, and by which model."""
        return _json(answers.health(reloading.served, reloading.remark))

    @app.get("/metrics", responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}})
    async def figures():
        """Figures for Prometheus."""
        return Response(metrics.exposition(), media_type=CONTENT_TYPE_LATEST)


def _add_pages(app, limits):
    page = pages.page(limits)

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def read_page():
        return _html(page)

    @app.api_route("/docs", methods=["GET", "HEAD"], include_in_schema=False)
    async def read_docs():
        return _html(pages.documentation(app.openapi()))


def _add_errors(app):
    @app.exception_handler(Problem)
    async def of_ours(request, problem):
        return response_to(problem)

    @app.exception_handler(HTTPException)
    async def of_the_framework(request, error):
        response = response_to(Problem(error.status_code, _SAID.get(error.status_code, str(error.detail))))
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(RequestValidationError)
    async def of_validation(request, error):
        found = error.errors()
        if found[0]["type"] == "json_invalid":
            _, place = found[0]["loc"]
            return response_to(Problem(400, f"the body is not JSON: {found[0]['ctx']['error']}, character {place}"))
        if tuple(found[0]["loc"]) == ("body",) and found[0]["type"] != "value_error":
            return response_to(Problem(422, "the body must be a JSON object, with Content-Type: application/json"))
        return response_to(Problem(422, describe(found)))


def _documented(answer, *statuses):
    """What the OpenAPI document says of a route's answers."""
    return {
        "response_class": Response,
        "responses": {200: {"model": answer}} | {each: _error(each) for each in statuses},
    }


def _error(status):
    described = {"description": _WHY[status], "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}
    return described | ({"headers": _RETRY} if status == 503 else {})


def _json(answer):
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), media_type="application/json")


def _html(page):
    return Response(page.html, media_type="text/html", headers={"Content-Security-Policy": page.policy})
