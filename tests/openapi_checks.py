"""Requests made up from an OpenAPI document, fitting or not: are the answers as it says?"""

from hypothesis import HealthCheck, given, settings


def check_answers(operation, mode, examples, change=lambda case: None) -> None:
    """Ask an operation many times; ``change`` may change a request before."""
    quick = {
        "deadline": None,
        "derandomize": True,
        "suppress_health_check": list(HealthCheck),
        "database": None,
    }

    @settings(max_examples=examples, **quick)
    @given(operation.as_strategy(generation_mode=mode))
    def each_answer(case) -> None:
        change(case)
        case.call_and_validate(timeout=30)

    each_answer()


def list_operations(document):
    """Path, method and operation."""
    return [
        (path, method, document[path][method]) for path in document for method in document[path]
    ]
