"""The catalogue of public datasets: where to get them, and their propensities."""

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from ovaflow.console.errors import InputError
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
    """Where to get a dataset's archive, and what to extract from it."""

    drive: Annotated[str, Field(pattern=r"^[-\w]{10,}$")] | None = None
    resourcekey: Annotated[str, Field(pattern=r"^[-\w]+$")] | None = None
    url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    members: dict[str, str]

    @model_validator(mode="after")
    def _one_place(self):
        if (self.drive is None) == (self.url is None):
            raise ValueError("give either drive or url")
        if set(self.members) not in _LAYOUTS:
            raise ValueError(
                "members must be {train, test}, with data, or with train_labels and test_labels"
            )
        return self

    @property
    def page(self):
        """Address that a person opens in a browser to download the archive by hand."""
        if self.url:
            return self.url
        key = f"?resourcekey={self.resourcekey}" if self.resourcekey else ""
        return f"https://drive.google.com/file/d/{self.drive}/view{key}"


class CatalogueEntry(Section):
    title: str
    note: str | None = None
    format: Literal["xmc-text", "npz"]
    propensity: Propensity = Propensity()
    sources: Annotated[list[Archive], Field(min_length=1)]

    @property
    def files(self):
        """What ``ovaflow download`` leaves in the dataset's folder, by role."""
        return _NPZ_FILES if self.format == "npz" else _TEXT_FILES


class _Catalogue(Section):
    datasets: dict[Annotated[str, Field(pattern=r"^[a-z0-9][-.a-z0-9]*$")], CatalogueEntry]


def default_catalogue():
    """``config/datasets.yaml`` of the checkout, or the copy inside the wheel."""
    packaged = _PACKAGE / "pipeline" / "config" / "datasets.yaml"
    return packaged if packaged.is_file() else _PACKAGE.parents[1] / "config" / "datasets.yaml"


@cache
def read_catalogue(path=None):
    path = Path(path or default_catalogue())
    try:
        return _Catalogue.model_validate(load_config(path)).datasets
    except ValidationError as error:
        first = error.errors()[0]
        message = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    raise InputError(message, path=path, remedy="correct this file, or give another one")


def find_entry(name, path=None):
    """One dataset of a catalogue, ovaflow's own by default."""
    catalogue = read_catalogue(path)
    if name not in catalogue:
        remedy = f"choose from {', '.join(catalogue)}"
        raise InputError(f"no dataset {name!r}", path=path or default_catalogue(), remedy=remedy)
    return catalogue[name]
