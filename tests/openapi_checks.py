"""Checks of answers to requests that are made up from an OpenAPI document, right and wrong ones."""

from hypothesis import HealthCheck, given, settings


def _keep_case(case) -> None:
    pass


def check_answers(operation, mode, examples, change=_keep_case) -> None:
    """Check the answers to many requests of an operation; ``change`` may change each request."""
    options = {
        "max_examples": examples,
        "deadline": None,
        "derandomize": True,
        "suppress_health_check": list(HealthCheck),
        "database": None,
    }

    @settings(**options)
    @given(operation.as_strategy(generation_mode=mode))
    def check_answer(case) -> None:
        change(case)
        case.call_and_validate(timeout=30)

    check_answer()


def list_operations(document) -> list[tuple]:
    """List path, method and operation of all operations."""
    operations = []
    for path in document:
        for method in document[path]:
            operations.append((path, method, document[path][method]))
    return operations
