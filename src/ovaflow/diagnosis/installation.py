"""Python, the packages that ovaflow needs, and Snakemake with its plugins."""

import importlib.metadata
import importlib.util
import pkgutil
import platform
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

from ovaflow import __version__
from ovaflow.configuration.places import snakefile
from ovaflow.console.errors import InputError
from ovaflow.diagnosis.finding import Finding, fail, ok, warn

_PLUGINS = ("snakemake_executor_plugin_", "snakemake_logger_plugin_", "snakemake_storage_plugin_")
_OLDEST = (3, 11)


def check_python() -> Iterator[Finding]:
    """Python itself, and ovaflow.

    Yields
    ------
    Finding
    """
    said = f"ovaflow {__version__}, {platform.python_implementation()} {platform.python_version()}, {sys.prefix}"
    if sys.version_info < _OLDEST:
        yield fail("python", said, f"install ovaflow with Python {_OLDEST[0]}.{_OLDEST[1]} or newer")
    elif platform.system() != "Linux":
        yield fail("python", f"{said}, {platform.system()}", "ovaflow runs on Linux; use a virtual machine or WSL")
    else:
        yield ok("python", said)


def check_packages(requirements: list[str] | None = None) -> Iterator[Finding]:
    """Versions of packages against the ranges that ovaflow asks for.

    Parameters
    ----------
    requirements : list of str, optional
        Such as ``"numpy>=1.26"``; by default what the installed package or the checkout says.

    Yields
    ------
    Finding
    """
    wrong = []
    found = [Requirement(text) for text in (_requirements() if requirements is None else requirements)]
    for requirement in found:
        version = _version_of(requirement.name)
        if version is None:
            wrong.append(f"{requirement.name} is missing")
        elif not requirement.specifier.contains(version, prereleases=True):
            wrong.append(f"{requirement.name} {version} is not {requirement.specifier}")
    if wrong:
        command = "pip install -c envs/constraints.txt . (in the checkout), or pip install --upgrade ovaflow"
        yield fail("packages", "; ".join(wrong), command)
    else:
        core = ", ".join(f"{name} {_version_of(name)}" for name in ("numpy", "scipy", "numba", "h5py", "snakemake"))
        yield ok("packages", f"{len(found)} in their ranges: {core}")


def check_snakemake() -> Iterator[Finding]:
    """The workflow, and plugins of Snakemake.

    Yields
    ------
    Finding
    """
    try:
        where = snakefile()
    except InputError as error:
        yield fail("workflow", str(error), "install ovaflow from a wheel or a checkout")
    else:
        yield ok("workflow", str(where))
    if importlib.util.find_spec("snakemake_logger_plugin_ovaflow") is None:
        yield fail(
            "snakemake", "its plugin logger/ovaflow, which the profiles use, is missing", "install ovaflow again"
        )
        return
    plugins = sorted(
        module.name.removeprefix("snakemake_").replace("_plugin_", "/").replace("_", "-")
        for module in pkgutil.iter_modules()
        if module.ispkg and module.name.startswith(_PLUGINS)
    )
    yield ok("snakemake", f"{_version_of('snakemake')} with {', '.join(plugins)}")
    if "executor/slurm" not in plugins and _is_on_a_cluster():
        yield warn(
            "snakemake", "there is Slurm here, and its plugin is missing", "pip install snakemake-executor-plugin-slurm"
        )


def _is_on_a_cluster() -> bool:
    return shutil.which("sbatch") is not None


def _requirements() -> list[str]:
    project = Path(__file__).parents[3] / "pyproject.toml"
    if project.is_file():
        # a checkout, whose package may not be installed
        given = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]
    else:
        given = importlib.metadata.requires("ovaflow") or []
    wanted = map(Requirement, given)
    return [str(each) for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]


def _version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
