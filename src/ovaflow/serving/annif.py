"""Annif's REST API, version 1: every served model that reads texts is a project.

Docstrings of routes and of models are their descriptions in the OpenAPI document.
"""

import http
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import PlainTextResponse, Response

from ovaflow import __version__
from ovaflow.console.errors import InputError
from ovaflow.features.text_language import LANGUAGES, score_languages
from ovaflow.labels.subjects import UNDETERMINED_LANGUAGE
from ovaflow.prediction.annif_files import score_within_one
from ovaflow.prediction.answer import AnsweredLabel
from ovaflow.prediction.question import Question
from ovaflow.reading.streams import clean_text
from ovaflow.serving import metrics
from ovaflow.serving.corrections import Correction, Corrections
from ovaflow.serving.replies import (
    describe_validation_error,
    document_route,
    json_reply,
    problem_response,
)
from ovaflow.serving.scoring_queue import ScoringQueue
from ovaflow.serving.served_model import ServedModel

_MAX_DOCUMENTS = 32
"""Documents of a request, as in Annif."""

_PROBABILITY_DESCRIPTION = "the score of a subject is its probability"
_LOGISTIC_DESCRIPTION = (
    "the score of a subject is 1 / (1 + exp(-s)) of the classifier's score s, "
    "which is not a probability; a run with predict: {rerank: 0.2} has probabilities"
)

_ERROR_DESCRIPTIONS = {
    400: "The request is not as described.",
    403: "The project is served without a file of corrections.",
    404: "No such project.",
    408: "The body did not arrive in time.",
    413: "The body, or a text, is too large.",
    503: "Too many requests at once, or the file of corrections cannot be written.",
    507: "The disk is full.",
}


class ProjectBackend(BaseModel):
    """The program that makes the suggestions."""

    backend_id: str


class SubjectVocabulary(BaseModel):
    """The subjects that a project can suggest."""

    vocab_id: str
    languages: list[str]
    size: int
    loaded: bool


class Vocabularies(BaseModel):
    """The vocabularies of all projects."""

    vocabs: list[SubjectVocabulary]


class Project(BaseModel):
    """A served model."""

    project_id: str
    name: str
    description: str = Field(description="What the scores mean.")
    language: str
    backend: ProjectBackend
    vocab: SubjectVocabulary
    vocab_language: str
    is_trained: bool
    modification_time: datetime


class Projects(BaseModel):
    """All served models that read texts."""

    projects: list[Project]


class Suggestion(BaseModel):
    """A subject for a document."""

    uri: str
    label: str
    notation: str | None
    score: float


class AnnifSuggestions(BaseModel):
    """Subjects for a document, best first."""

    results: list[Suggestion]


class DocumentSuggestions(AnnifSuggestions):
    """Subjects for a document of several."""

    document_id: str | None


class TextToTell(BaseModel):
    """A text whose language is asked for."""

    text: str
    languages: Annotated[
        list[Annotated[str, Field(min_length=2, max_length=3)]],
        Field(min_length=1, max_length=5, description=f"Candidates, of {', '.join(LANGUAGES)}."),
    ]


class LanguageScore(BaseModel):
    """A language, and how well it fits a text."""

    language: str | None = Field(description="Null if it is none of the candidates.")
    score: float


class LanguageScores(BaseModel):
    """Languages that a text may be in, best first; the scores add up to 1."""

    results: list[LanguageScore]


class About(BaseModel):
    """The program that answers."""

    title: str
    version: str


class Document(BaseModel):
    """A document of several."""

    text: str
    document_id: str | None = None
    metadata: dict[str, str] | None = Field(None, description="Not used.")


class AnnifSubject(BaseModel):
    """A subject that a document has."""

    uri: str
    label: str | None = Field(None, description="Not used.")


class IndexedDocument(BaseModel):
    """A document and the subjects that people gave it."""

    text: str
    subjects: list[AnnifSubject]
    metadata: dict[str, str] | None = Field(None, description="Not used.")


class Documents(BaseModel):
    """Documents to suggest subjects for."""

    documents: Annotated[list[Document], Field(max_length=_MAX_DOCUMENTS)]


_Limit = Annotated[
    int,
    Field(
        ge=0,
        description="Maximum number of subjects for a document; the service has a limit of "
        "its own.",
    ),
]
_Threshold = Annotated[float, Field(ge=0, le=1, description="Minimum score of a subject.")]
_Language = Annotated[str | None, Field(description="Language of the subjects' names.")]
_ProjectId = Annotated[str, InPath()]


class OneDocument(BaseModel):
    """A document to suggest subjects for; further fields are metadata, which is not used."""

    text: str
    limit: _Limit = 10
    threshold: _Threshold = 0.0
    language: _Language = None


# fastapi.Form takes a text that is empty for one that is missing
_FORM_CONTENT = {"application/x-www-form-urlencoded": {"schema": OneDocument.model_json_schema()}}


class _AnnifRoute(APIRoute):
    """Route that answers invalid requests with status 400, and too large ones in plain text, as
    Annif does.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_as_annif(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                return problem_response(400, describe_validation_error(error.errors()[0]))
            except HTTPException as error:
                if error.status_code == http.HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                    return PlainTextResponse(error.detail, error.status_code)
                raise

        return handle_as_annif


_document_route = partial(document_route, descriptions=_ERROR_DESCRIPTIONS, plain_text=(413,))


def make_annif_routes(
    models: Mapping[str, ServedModel],
    corrections: Mapping[str, Corrections],
    queue: ScoringQueue,
    options: SimpleNamespace,
) -> APIRouter:
    """Make the routes of Annif's API.

    Parameters
    ----------
    models : mapping
        Served models by name.
    corrections : mapping
        Files of corrections by the name of a model, where it has one.
    queue : ScoringQueue
        Queue of the threads that score.
    options : namespace
        Options of the service.
    """
    router = APIRouter(prefix="/v1", route_class=_AnnifRoute)
    projects = _Projects(models, queue, options)
    _add_descriptions(router, projects)
    _add_suggestions(router, projects)
    _add_learning(router, projects, corrections)
    _add_languages(router, projects)
    return router


class _Projects:
    """The models that read texts, by name.

    Attributes
    ----------
    descriptions : dict
        Description of each project, by its name.
    max_body : int
        Largest body, in bytes.
    """

    def __init__(
        self, models: Mapping[str, ServedModel], queue: ScoringQueue, options: SimpleNamespace
    ) -> None:
        self._models = {}
        self.descriptions = {}
        for name, served in models.items():
            if served.predictor.takes_text:
                self._models[name] = served
                self.descriptions[name] = _describe_project(name, served)
        self._queue = queue
        self._options = options
        self.max_body = options.max_body

    def require(self, name: str) -> ServedModel:
        """Return the model of a project; 404 without one."""
        if name not in self._models:
            names = ", ".join(self._models) or "none"
            raise HTTPException(404, f"no project {name!r}; there are {names}")
        return self._models[name]

    def check_lengths(self, texts: Sequence[str]) -> None:
        """Refuse texts that are too long."""
        most = self._options.max_text
        if any(len(text) > most for text in texts):
            raise HTTPException(
                413, f"a text has more than {most} characters: serve with --max-text"
            )

    async def suggest(
        self, name: str, texts: Sequence[str], limit: int, threshold: float, language: str | None
    ) -> list[dict[str, Any]]:
        """Suggest subjects for each text: up to a limit, with a score of at least a threshold,
        named in a language.
        """
        served = self._get_in_language(name, language).without_excluded()
        self.check_lengths(texts)
        if not texts:
            return []
        limit = min(limit, self._options.max_top_k)
        suggestions = await self._queue.run(_suggest, served, texts, limit, threshold)
        metrics.INSTANCE_COUNT.inc(len(texts))
        return suggestions

    def _get_in_language(self, name: str, language: str | None) -> ServedModel:
        served = self.require(name)
        if language is None:
            return served
        languages = self.descriptions[name]["vocab"]["languages"]
        # names of an undetermined language answer for any
        if language not in languages and languages != [UNDETERMINED_LANGUAGE]:
            detail = f'language "{language}" not supported by vocabulary'
            raise HTTPException(400, f"{detail}, which has {', '.join(languages)}")
        if language in served.languages:
            return served.in_language(language)
        return served

    async def score_languages(self, text: str, languages: Sequence[str]) -> Mapping[Any, float]:
        """Score the languages that a text may be in."""
        self.check_lengths([text])
        return await self._queue.run(score_languages, text, languages)


def _add_descriptions(router: APIRouter, projects: _Projects) -> None:
    @router.get("/", **_document_route(About))
    async def about() -> Response:
        """The program that answers, and its version."""
        return json_reply({"title": "Annif REST API, by ovaflow", "version": __version__})

    @router.get("/vocabs", **_document_route(Vocabularies))
    async def vocabs() -> Response:
        """The vocabularies of all projects."""
        by_id = {}
        for description in projects.descriptions.values():
            vocabulary = description["vocab"]
            by_id[vocabulary["vocab_id"]] = vocabulary
        return json_reply({"vocabs": list(by_id.values())})

    @router.get("/projects", **_document_route(Projects))
    async def list_projects() -> Response:
        """All projects."""
        return json_reply({"projects": list(projects.descriptions.values())})

    @router.get("/projects/{project_id}", **_document_route(Project, 404))
    async def show_project(project_id: _ProjectId) -> Response:
        """One project."""
        projects.require(project_id)
        return json_reply(projects.descriptions[project_id])


def _add_suggestions(router: APIRouter, projects: _Projects) -> None:
    @router.post(
        "/projects/{project_id}/suggest",
        openapi_extra={"requestBody": {"content": _FORM_CONTENT, "required": True}},
        **_document_route(AnnifSuggestions, 400, 404, 408, 413, 503),
    )
    async def suggest_for_one(project_id: _ProjectId, request: Request) -> Response:
        """Subjects for a document."""
        try:
            form = await request.form(max_part_size=projects.max_body)
            document = OneDocument.model_validate(dict(form))
        except ValidationError as error:
            raise RequestValidationError(error.errors()) from None
        except UnicodeError as error:
            raise HTTPException(400, f"the form cannot be decoded: {error}") from None
        [suggestions] = await projects.suggest(
            project_id, [document.text], document.limit, document.threshold, document.language
        )
        return json_reply(suggestions)

    @router.post(
        "/projects/{project_id}/suggest-batch",
        **_document_route(list[DocumentSuggestions], 400, 404, 408, 413, 503),
    )
    async def suggest_for_several(
        project_id: _ProjectId,
        body: Documents,
        limit: Annotated[_Limit, Query()] = 10,
        threshold: Annotated[_Threshold, Query()] = 0.0,
        language: Annotated[_Language, Query()] = None,
    ) -> Response:
        """Subjects for up to 32 documents."""
        texts = [document.text for document in body.documents]
        suggestions = await projects.suggest(project_id, texts, limit, threshold, language)
        for results, document in zip(suggestions, body.documents, strict=True):
            results["document_id"] = document.document_id
        return json_reply(suggestions)


def _add_learning(
    router: APIRouter, projects: _Projects, corrections: Mapping[str, Corrections]
) -> None:
    async def require_file(project_id: _ProjectId) -> Corrections:
        projects.require(project_id)
        if project_id not in corrections:
            detail = (
                f"project {project_id} does not learn: serve with --corrections {project_id}=FILE"
            )
            raise HTTPException(403, detail)
        return corrections[project_id]

    File = Annotated[Corrections, Depends(require_file)]

    @router.post(
        "/projects/{project_id}/learn",
        status_code=204,
        **_document_route(None, 400, 403, 404, 408, 413, 503, 507),
    )
    async def learn(file: File, documents: list[IndexedDocument]) -> None:
        """Saves documents with their subjects, for the next training; the model stays as it is."""
        projects.check_lengths([document.text for document in documents])
        try:
            await file.save([_make_correction(document) for document in documents])
        except InputError as error:
            raise HTTPException(400, str(error)) from None


def _add_languages(router: APIRouter, projects: _Projects) -> None:
    @router.post("/detect-language", **_document_route(LanguageScores, 400, 408, 413, 503))
    async def detect_language(body: TextToTell) -> Response:
        """In which of some languages a text is, told by its stop words."""
        unknown = [language for language in body.languages if language not in LANGUAGES]
        if unknown:
            supported = f"those that can be told are {', '.join(LANGUAGES)}"
            raise HTTPException(
                400, f"unsupported candidate languages: {', '.join(unknown)}; {supported}"
            )
        scores = await projects.score_languages(body.text, body.languages)
        results = [{"language": each, "score": score} for each, score in scores.items()]
        return json_reply({"results": results})


def _make_correction(document: IndexedDocument) -> Correction:
    return Correction(clean_text(document.text), [subject.uri for subject in document.subjects])


def _describe_project(name: str, served: ServedModel) -> dict[str, Any]:
    model = served.predictor.model
    language = model.transform.get("language") or UNDETERMINED_LANGUAGE
    description = _PROBABILITY_DESCRIPTION if model.probabilistic else _LOGISTIC_DESCRIPTION
    assert model.path is not None, "a served model has a file"
    changed = datetime.fromtimestamp(Path(model.path).stat().st_mtime, UTC)
    return {
        "project_id": name,
        "name": name,
        "description": description,
        "language": language,
        "backend": {"backend_id": "ovaflow"},
        "vocab": {
            "vocab_id": served.vocabulary or "labels",
            "languages": list(served.languages) or [language],
            "size": model.n_labels,
            "loaded": True,
        },
        "vocab_language": language,
        "is_trained": True,
        "modification_time": changed.isoformat(timespec="seconds"),
    }


def _suggest(
    served: ServedModel, texts: Sequence[str], limit: int, threshold: float
) -> list[dict[str, Any]]:
    read = served.predictor.read_texts(texts)
    if read.familiarity is not None:
        served.count(read.familiarity.word_count)
    suggestions = []
    for answer in served.predictor.answer(read, Question(top_k=max(limit, 1))):
        labels = answer.labels[:limit]
        if not answer.features:
            # without a known word the labels would be those of any text
            labels = []
        suggestions.append({"results": _make_suggestions(labels, threshold)})
    return suggestions


def _make_suggestions(labels: Sequence[AnsweredLabel], threshold: float) -> list[dict[str, Any]]:
    """List the subjects of labels whose scores reach a threshold, each below the one before."""
    results = []
    score = np.float32(np.inf)
    for label in labels:
        # clients sort again, in float32, so that equal scores would lose their order
        below = np.nextafter(score, np.float32(0))
        score = min(score_within_one(label), below)
        if score >= threshold:
            results.append(
                {
                    "uri": label.uri or label.name,
                    "label": label.name,
                    "notation": label.notation,
                    "score": float(score),
                }
            )
    return results
