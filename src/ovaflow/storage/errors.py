"""Errors about artifacts that cannot be used, and how to make them again."""

from typing import Any

from ovaflow.console.errors import InputError, StrPath, UnreadableError
from ovaflow.registry import all_steps


def describe_producer(kind: str) -> str:
    """The command and rule that write a kind, as `` (ovaflow means, rule compute_means)``; empty
    for unknown kinds.
    """
    for name, step in all_steps().items():
        if kind in step.makes:
            return f" (ovaflow {name}, rule {step.rule})" if step.rule else f" (ovaflow {name})"
    return ""


def remaking_remedy(kind: str) -> str:
    """What to do about an artifact that cannot be used."""
    return f"delete it and make it again{describe_producer(kind)}"


def kind_error(kind: str, path: StrPath, message: str = "") -> InputError:
    """The error of a file that is something else, perhaps another program's."""
    remedy = f"give the path of a {kind} file{describe_producer(kind)}"
    return InputError(message or f"not a {kind} file, or damaged", path=path, remedy=remedy)


def stale_error(
    kind: str, path: StrPath | None, message: str, remedy: str | None = None
) -> InputError:
    """The error of a file that was made from something else."""
    return InputError(
        f"stale: {message}", path=path, remedy=remedy or f"make it again{describe_producer(kind)}"
    )


def damage_error(item: Any, message: object) -> InputError:
    """The error of a damaged file, of which an artifact, group or array is open."""
    remedy = remaking_remedy(read_text_attribute(item.file, "kind"))
    return InputError(f"damaged ({message})", path=item.file.filename, remedy=remedy)


def read_error(path: StrPath, error: OSError) -> UnreadableError:
    """The error of a file that the system does not let us read."""
    remedy = "check its permissions, or give another file"
    return UnreadableError(f"cannot be read ({error.strerror})", path=path, remedy=remedy)


def read_text_attribute(item: Any, name: str) -> str:
    value = item.attrs[name]
    return value.decode() if isinstance(value, bytes) else value
