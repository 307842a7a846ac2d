"""The catalogue of public data sets: their addresses and propensities."""

from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from ovaflow.console.errors import InputError, StrPath
from ovaflow.settings.config import load_config
from ovaflow.settings.section import Section

_PACKAGE = Path(__file__).parents[1]
_LAYOUTS = (
    {"train", "test"},
    {"data", "train", "test"},
    {"train", "train_labels", "test", "test_labels"},
)
_TEXT_FILES = {"train": "train.txt", "test": "test.txt"}
_NPZ_FILES = {
    "train": "X.trn.npz",
    "train_labels": "Y.trn.npz",
    "test": "X.tst.npz",
    "test_labels": "Y.tst.npz",
}


class Propensity(Section):
    """A and B of the propensity model (Jain et al. 2016)."""

    a: Annotated[float, Field(gt=0)] = 0.55
    b: Annotated[float, Field(gt=0)] = 1.5


class Archive(Section):
    """An archive of a data set: its address, and the members to extract."""

    drive: Annotated[str, Field(pattern=r"^[-\w]{10,}$")] | None = None
    resourcekey: Annotated[str, Field(pattern=r"^[-\w]+$")] | None = None
    url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    members: dict[str, str]

    @model_validator(mode="after")
    def _require_one_address(self) -> Self:
        if (self.drive is None) == (self.url is None):
            raise ValueError("give either drive or url")
        if set(self.members) not in _LAYOUTS:
            raise ValueError(
                "members must be {train, test}, with data, or with train_labels and test_labels"
            )
        return self

    @property
    def page(self) -> str:
        """The address to download the archive by hand in a browser."""
        if self.url:
            return self.url
        key = f"?resourcekey={self.resourcekey}" if self.resourcekey else ""
        return f"https://drive.google.com/file/d/{self.drive}/view{key}"


class CatalogueEntry(Section):
    """A data set of the catalogue."""

    title: str
    note: str | None = None
    format: Literal["xmc-text", "npz"]
    propensity: Propensity = Propensity()
    sources: Annotated[list[Archive], Field(min_length=1)]

    @property
    def files(self) -> dict[str, str]:
        """The files of ``ovaflow download`` in the data set's folder, by role."""
        return _NPZ_FILES if self.format == "npz" else _TEXT_FILES


class _Catalogue(Section):
    datasets: dict[Annotated[str, Field(pattern=r"^[a-z0-9][-.a-z0-9]*$")], CatalogueEntry]


def default_catalogue() -> Path:
    """Return ``config/datasets.yaml`` of the checkout, or the copy inside the wheel."""
    packaged = _PACKAGE / "pipeline" / "config" / "datasets.yaml"
    if packaged.is_file():
        return packaged
    return _PACKAGE.parents[1] / "config" / "datasets.yaml"


@cache
def read_catalogue(path: Path | None = None) -> dict[str, CatalogueEntry]:
    """Read a catalogue, ovaflow's own by default."""
    path = path or Path(default_catalogue())
    try:
        return _Catalogue.model_validate(load_config(path)).datasets
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        message = f"{key}: {first['msg']}"
    raise InputError(message, path=path, remedy="correct this file, or give another one")


def find_entry(name: str, path: StrPath | None = None) -> CatalogueEntry:
    """Find a data set of a catalogue, ovaflow's own by default."""
    catalogue = read_catalogue(None if path is None else Path(path))
    if name not in catalogue:
        remedy = f"choose from {', '.join(catalogue)}"
        raise InputError(f"no dataset {name!r}", path=path or default_catalogue(), remedy=remedy)
    return catalogue[name]
