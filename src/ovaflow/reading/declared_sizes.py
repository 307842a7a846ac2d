"""Sizes that a header declares: a small file must not ask for more memory than there is."""

from ovaflow.console.errors import InputError, StrPath

_ALWAYS_ACCEPTED = 1 << 26
"""Declared sizes up to this are accepted; hashed features of few texts may be that many."""
_MOST_PER_VALUE = 1000
"""Larger sizes are accepted up to this number of rows or features per stored value."""


def require_plausible_size(declared: int, unit: str, n_values: int, path: StrPath) -> None:
    """Refuse a declared number of rows or features of which hardly any can be in use.

    Parameters
    ----------
    declared : int
    unit : str
        ``"rows"`` or ``"features"``.
    n_values : int
        Number of values that the file has.
    path : path
        The file's name in messages.
    """
    if declared > max(_ALWAYS_ACCEPTED, _MOST_PER_VALUE * n_values):
        message = f"claims {declared:,} {unit}, and has {n_values:,} values"
        remedy = f"correct the number in its header, or leave out unused {unit}"
        raise InputError(message, path=path, remedy=remedy)
