"""What users name is opened only if it is a file, whatever it is named for."""

import os

import pytest
from commands import ovaflow

from ovaflow.console.errors import InputError
from ovaflow.reading.streams import open_stream
from ovaflow.records.catalogue import read_catalogue
from ovaflow.settings.config import load_config
from ovaflow.storage.hdf5 import open_artifact
from ovaflow.storage.opening import open_regular
from ovaflow.storage.texts import read_json


@pytest.mark.parametrize("path", ["pipe", "/dev/zero"])
def test_neither_pipes_nor_devices(tmp_path, monkeypatch, path) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    for read in (
        lambda: open_stream(path).__enter__(),
        lambda: load_config(path),
        lambda: read_catalogue(path),
        lambda: open_artifact(path, "model").__enter__(),
        lambda: read_json(path, "metrics"),
    ):
        with pytest.raises(
            InputError, match=f"{path}: is not a regular file; write its content to a file"
        ):
            read()
    for command in (
        "convert --output=x {}",
        "unpack --output=x {}",
        "run {}",
        "predict {} x",
        "promote {} --over=x --on=x",
    ):
        assert f"{path}: is not a regular file" in ovaflow(*command.format(path).split(), status=2)


def test_an_error_of_reading_names_the_file() -> None:
    for read in (lambda file: file.read(), lambda file: file.read1(100)):
        with (
            open_regular("/proc/self/mem") as file,
            pytest.raises(InputError, match=r"^/proc/self/mem: cannot be read"),
        ):
            read(file)
