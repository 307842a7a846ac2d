"""The peers by name. Their files are imported by the process that runs one."""

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import NamedTuple

import click


class Method(NamedTuple):
    """One way to train with a package."""

    name: str
    package: str  # name for --peers
    requires: str  # module that must be installed
    file: str  # of this folder
    kind: str  # class in it
    tree: bool  # trains a label tree instead of one classifier per label
    remark: str  # where its settings differ from ovaflow's

    @property
    def readable(self) -> bool:
        """True if it has one weight vector per label that can be read."""
        return not self.tree and self.package != "napkinxc"

    @property
    def installed(self) -> bool:
        """True if the package is installed."""
        return importlib.util.find_spec(self.requires) is not None

    def load(self) -> type:
        """Import the class."""
        return getattr(importlib.import_module(f"peers.{self.file}"), self.kind)


OWN = Method(
    "ovaflow", "ovaflow", "ovaflow", "ovaflow", "MeanSeparating", False, "mean-separating start"
)

_LIBLINEAR_DUAL = "dual: tolerance 0.1 on projected gradients"
_SCORED = "scored with SciPy"
_OWN_PRUNING = "tolerance and pruning (0.1) of the package"

METHODS = [
    OWN,
    Method(
        "newton on blas",
        "blas",
        "scipy",
        "blas",
        "Newton",
        False,
        f"dense array; same start; {_SCORED}",
    ),
    Method("liblinear primal", "liblinear", "liblinear", "liblinear", "Primal", False, _SCORED),
    Method(
        "liblinear dual",
        "liblinear",
        "liblinear",
        "liblinear",
        "Dual",
        False,
        f"{_LIBLINEAR_DUAL}; {_SCORED}",
    ),
    Method(
        "scikit-learn primal", "scikit-learn", "sklearn", "scikit_learn", "Primal", False, _SCORED
    ),
    Method(
        "scikit-learn dual",
        "scikit-learn",
        "sklearn",
        "scikit_learn",
        "Dual",
        False,
        f"{_LIBLINEAR_DUAL}; {_SCORED}",
    ),
    Method("pecos one-vs-all", "pecos", "pecos", "pecos", "OneVsAll", False, _LIBLINEAR_DUAL),
    Method("pecos tree", "pecos", "pecos", "pecos", "Tree", True, _OWN_PRUNING),
    Method(
        "napkinxc br",
        "napkinxc",
        "napkinxc",
        "napkinxc",
        "BinaryRelevance",
        False,
        f"{_LIBLINEAR_DUAL}; its weights cannot be read",
    ),
    Method(
        "napkinxc plt",
        "napkinxc",
        "napkinxc",
        "napkinxc",
        "LabelTree",
        True,
        f"{_OWN_PRUNING}; unit rows",
    ),
    Method(
        "omikuji parabel",
        "omikuji",
        "omikuji",
        "omikuji",
        "Parabel",
        True,
        f"{_OWN_PRUNING}; unit rows, bias 1; 3 trees; training includes reading its text file",
    ),
    Method(
        "omikuji bonsai",
        "omikuji",
        "omikuji",
        "omikuji",
        "Bonsai",
        True,
        "as parabel, 100-means, depth 3",
    ),
]
"""Every method, ovaflow's own first."""

PACKAGES = tuple(dict.fromkeys(method.package for method in METHODS[1:]))
"""Names for ``--peers``."""


def find_method(name: str) -> Method:
    """Return the method of a name."""
    return next(method for method in METHODS if method.name == name)


def select_methods(packages: Sequence[str]) -> list[Method]:
    """Return ovaflow and the methods of some packages."""
    return [OWN] + [method for method in METHODS[1:] if method.package in packages]


def make_names_callback(known: Sequence[str]) -> Callable:
    """Make the callback of an option that takes some of the known names, by comma."""

    def split_names(context: click.Context, parameter: click.Parameter, value: str) -> list[str]:
        names = [name.strip() for name in value.split(",") if name.strip()]
        unknown = sorted(set(names) - set(known))
        if unknown:
            raise click.BadParameter(f"{', '.join(unknown)}; known: {', '.join(known)}")
        return names

    return split_names
