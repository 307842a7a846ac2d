"""What a client may ask for; stated in the OpenAPI document and kept by the service."""

from dataclasses import dataclass

LARGEST_FEATURE = 1e15
"""Sums of squares of features up to here are finite in float32."""


@dataclass(frozen=True)
class Limits:
    """Bounds of the service.

    Attributes
    ----------
    body_bytes : int
        Of a request.
    batch : int
        Texts or instances of a request.
    text : int
        Characters of a text.
    features : int
        Features of an instance.
    top_k : int
        Labels predicted, explained or listed at a time.
    words : int
        Words of a label, for and against each.
    waiting : int
        Requests of a worker that wait for a thread; further ones are refused.
    connections : int
        Open connections of a worker; further ones are refused.
    head_seconds : float
        In which the head of a request must have arrived.
    request_seconds : float
        In which its body must have arrived, and then again in which it must have been answered.
    """

    body_bytes: int = 4 << 20
    batch: int = 128
    text: int = 100_000
    features: int = 100_000
    top_k: int = 100
    words: int = 1000
    waiting: int = 64
    connections: int = 1000
    head_seconds: float = 10.0
    request_seconds: float = 30.0
