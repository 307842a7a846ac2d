"""Paths that users give are opened only if they are files, by whatever reads them."""

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
def test_pipes_and_devices_are_refused(tmp_path, monkeypatch, path) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    readers = (
        lambda: open_stream(path).__enter__(),
        lambda: load_config(path),
        lambda: read_catalogue(path),
        lambda: open_artifact(path, "model").__enter__(),
        lambda: read_json(path, "metrics"),
    )
    message = f"{path}: is not a regular file; write its content to a file"
    for read in readers:
        with pytest.raises(InputError, match=message):
            read()
    commands = (
        ["convert", "--output=x", path],
        ["unpack", "--output=x", path],
        ["run", path],
        ["predict", path, "x"],
        ["promote", path, "--over=x", "--on=x"],
    )
    for command in commands:
        assert f"{path}: is not a regular file" in ovaflow(command, status=2)


def test_an_error_of_reading_names_the_file() -> None:
    for read in (lambda file: file.read(), lambda file: file.read1(100)):
        with (
            open_regular("/proc/self/mem") as file,
            pytest.raises(InputError, match=r"^/proc/self/mem: cannot be read"),
        ):
            read(file)
