"""Sizes that a header claims: a file of few values must not ask for more memory than there is."""

from ovaflow.console.errors import InputError

_ALWAYS = 1 << 26
"""So many rows or features are believed in any case: hashed features of few texts may be that many.
"""
_EACH = 1000
"""Else there is a value for each so many."""


def require_plausible_size(claimed, of, n_values, path) -> None:
    """Refuse a number of rows or features of which next to none can be in use."""
    if claimed > max(_ALWAYS, _EACH * n_values):
        message = f"claims {claimed:,} {of}, and has {n_values:,} values"
        raise InputError(
            message, path=path, remedy=f"correct the number in its header, or leave out unused {of}"
        )
