import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

OPERATIONS = [
    ("/predict", "POST"), ("/explain", "POST"), ("/labels", "GET"), ("/labels/{label}", "GET"),
    ("/corrections", "POST"), ("/health", "GET"), ("/metrics", "GET"),
    ("/v1/", "GET"), ("/v1/vocabs", "GET"), ("/v1/projects", "GET"),
    ("/v1/projects/{project_id}", "GET"), ("/v1/projects/{project_id}/suggest", "POST"),
    ("/v1/projects/{project_id}/suggest-batch", "POST"), ("/v1/projects/{project_id}/learn", "POST"),
]  # fmt: skip


@pytest.fixture(scope="module")
def document(service):
    return schemathesis.openapi.from_url(f"{service.url}/openapi.json")


def test_every_operation_is_tried(document):
    assert {(path, method.upper()) for path in document for method in document[path]} == set(OPERATIONS)


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_answer_is_as_the_document_says(document, path, method, mode):
    """Requests made up from the OpenAPI document, fitting or not: statuses, media types and schemas of the answers."""
    operation = document[path][method]
    if mode.is_negative and not (operation.body or operation.query or "{label}" in path):
        pytest.skip("nothing in this request can be wrong")

    @settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
    @given(operation.as_strategy(generation_mode=mode))
    def each_answer(case):
        case.call_and_validate(timeout=30)

    each_answer()
