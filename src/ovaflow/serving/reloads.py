"""Whether the last reload worked, which the supervisor knows, and if not why, which the worker that ended knew."""

import contextlib

from ovaflow.serving import failures

RELOAD = "reload"
_SLOW = "the new workers were not ready in time; the log says more"


def explain(error, paths):
    """Leave the reason why this worker cannot begin; ``paths`` are those that it opens."""
    with contextlib.suppress(OSError):
        _reason().write_text(failures.shown(error, [*paths, _reason()]), encoding="utf-8")


def begin():
    _reason().unlink(missing_ok=True)


def end(has_worked):
    if has_worked:
        failures.forget(RELOAD)
    else:
        failures.note(RELOAD, _reason().read_text(encoding="utf-8") if _reason().exists() else _SLOW)


def _reason():
    return failures.shared_file("reload.reason")
