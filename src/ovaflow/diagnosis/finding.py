"""What a check has found."""

from dataclasses import asdict, dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """One line of the doctor.

    Attributes
    ----------
    area : str
        What was looked at.
    verdict : Verdict
    said : str
        What there is.
    remedy : str
        What to do about it; empty where all is well.
    """

    area: str
    verdict: Verdict
    said: str
    remedy: str = ""

    def as_json(self) -> dict[str, str]:
        """The same for programs."""
        return {key: str(value) for key, value in asdict(self).items()}


def ok(area: str, said: str) -> Finding:
    """All is well."""
    return Finding(area, Verdict.OK, said)


def warn(area: str, said: str, remedy: str) -> Finding:
    """Something will be slow, or may go wrong."""
    return Finding(area, Verdict.WARN, said, remedy)


def fail(area: str, said: str, remedy: str) -> Finding:
    """Something will not work."""
    return Finding(area, Verdict.FAIL, said, remedy)
