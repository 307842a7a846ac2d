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
    remark: str  # where its settings differ from ovaflow's
    tree: bool = False  # trains a label tree instead of one classifier per label

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
    name="ovaflow",
    package="ovaflow",
    requires="ovaflow",
    file="ovaflow",
    kind="MeanSeparating",
    remark="mean-separating start",
)

_LIBLINEAR_DUAL = "dual: tolerance 0.1 on projected gradients"
_SCORED = "scored with SciPy"
_OWN_PRUNING = "tolerance and pruning (0.1) of the package"

METHODS = [
    OWN,
    Method(
        name="newton on blas",
        package="blas",
        requires="scipy",
        file="blas",
        kind="Newton",
        remark=f"dense array; same start; {_SCORED}",
    ),
    Method(
        name="liblinear primal",
        package="liblinear",
        requires="liblinear",
        file="liblinear",
        kind="Primal",
        remark=_SCORED,
    ),
    Method(
        name="liblinear dual",
        package="liblinear",
        requires="liblinear",
        file="liblinear",
        kind="Dual",
        remark=f"{_LIBLINEAR_DUAL}; {_SCORED}",
    ),
    Method(
        name="scikit-learn primal",
        package="scikit-learn",
        requires="sklearn",
        file="scikit_learn",
        kind="Primal",
        remark=_SCORED,
    ),
    Method(
        name="scikit-learn dual",
        package="scikit-learn",
        requires="sklearn",
        file="scikit_learn",
        kind="Dual",
        remark=f"{_LIBLINEAR_DUAL}; {_SCORED}",
    ),
    Method(
        name="pecos one-vs-all",
        package="pecos",
        requires="pecos",
        file="pecos",
        kind="OneVsAll",
        remark=_LIBLINEAR_DUAL,
    ),
    Method(
        name="pecos tree",
        package="pecos",
        requires="pecos",
        file="pecos",
        kind="Tree",
        tree=True,
        remark=_OWN_PRUNING,
    ),
    Method(
        name="napkinxc br",
        package="napkinxc",
        requires="napkinxc",
        file="napkinxc",
        kind="BinaryRelevance",
        remark=f"{_LIBLINEAR_DUAL}; its weights cannot be read",
    ),
    Method(
        name="napkinxc plt",
        package="napkinxc",
        requires="napkinxc",
        file="napkinxc",
        kind="LabelTree",
        tree=True,
        remark=f"{_OWN_PRUNING}; unit rows",
    ),
    Method(
        name="omikuji parabel",
        package="omikuji",
        requires="omikuji",
        file="omikuji",
        kind="Parabel",
        tree=True,
        remark=f"{_OWN_PRUNING}; unit rows, bias 1; 3 trees; "
        "training includes reading its text file",
    ),
    Method(
        name="omikuji bonsai",
        package="omikuji",
        requires="omikuji",
        file="omikuji",
        kind="Bonsai",
        tree=True,
        remark="as parabel, 100-means, depth 3",
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
