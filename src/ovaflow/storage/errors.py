"""Errors about artifacts that cannot be used, and how to make them again."""

from typing import Any

from ovaflow.console.errors import InputError, StrPath, UnreadableError
from ovaflow.registry import all_steps


def describe_producer(kind: str) -> str:
    """Name the command and the rule that write a kind of artifact.

    The text is put after a sentence, as in `` (ovaflow means, rule compute_means)``; it is empty
    for unknown kinds.
    """
    for name, step in all_steps().items():
        if kind in step.makes:
            rule = f", rule {step.rule}" if step.rule else ""
            return f" (ovaflow {name}{rule})"
    return ""


def remaking_remedy(kind: str) -> str:
    """Return the remedy for an artifact that cannot be used."""
    return f"delete it and make it again{describe_producer(kind)}"


def kind_error(kind: str, path: StrPath, message: str = "") -> InputError:
    """Make the error of a file of another kind, perhaps another program's."""
    remedy = f"give the path of a {kind} file{describe_producer(kind)}"
    return InputError(message or f"not a {kind} file, or damaged", path=path, remedy=remedy)


def stale_error(
    kind: str, path: StrPath | None, message: str, remedy: str | None = None
) -> InputError:
    """Make the error of a file that was made from other inputs than those in use."""
    remedy = remedy or f"make it again{describe_producer(kind)}"
    return InputError(f"stale: {message}", path=path, remedy=remedy)


def damage_error(item: Any, message: object) -> InputError:
    """Make the error of a damaged file, by the open artifact or a group or array of it."""
    remedy = remaking_remedy(read_text_attribute(item.file, "kind"))
    return InputError(f"damaged ({message})", path=item.file.filename, remedy=remedy)


def read_error(path: StrPath, error: OSError) -> UnreadableError:
    """Make the error of a file that the system does not let this process read."""
    remedy = "check its permissions, or give another file"
    return UnreadableError(f"cannot be read ({error.strerror})", path=path, remedy=remedy)


def read_text_attribute(item: Any, name: str) -> str:
    """Read an attribute that is a text, stored as bytes or as a string."""
    value = item.attrs[name]
    return value.decode() if isinstance(value, bytes) else value
