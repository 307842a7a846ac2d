import pytest
import schemathesis
from openapi_checks import check_answers, list_operations
from schemathesis import GenerationMode


def make_readable(case) -> None:
    """Replace made-up bytes by a file that can be read, and languages by supported ones."""
    if case.path == "/texts":
        case.query["name"] = "a.txt"
        case.body = b"text"
    if case.path == "/v1/detect-language":
        case.body["languages"] = ["en", "de"]


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_answer_is_as_the_document_says(service, mode) -> None:
    asked = list_operations(schemathesis.openapi.from_url(f"{service.url}/openapi.json"))
    assert len(asked) == 18
    for path, _, operation in asked:
        # nothing in another request can be wrong
        if mode.is_positive or operation.body or operation.query or "{label}" in path:
            if mode.is_positive:
                check_answers(operation, mode, 25, make_readable)
            else:
                check_answers(operation, mode, 25)
