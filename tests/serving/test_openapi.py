import pytest
import schemathesis
from described import check_answers, operations
from schemathesis import GenerationMode


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_answer_is_as_the_document_says(service, mode):
    asked = operations(schemathesis.openapi.from_url(f"{service.url}/openapi.json"))
    assert len(asked) == 16
    for path, _, operation in asked:
        # nothing in another request can be wrong
        if mode.is_positive or operation.body or operation.query or "{label}" in path:
            check_answers(operation, mode, 25)
