"""ovaflow pack and ovaflow unpack."""

import re
from pathlib import Path
from typing import Any

import click

from ovaflow.cli.options import file_argument, file_option
from ovaflow.console.errors import InputError
from ovaflow.model.model_file import Model
from ovaflow.prediction.model_folder import MODEL_NAME, list_model_files, read_metrics
from ovaflow.prediction.pack import unpack, write_pack
from ovaflow.prediction.predictor import Predictor
from ovaflow.report.model_card import CARD_NAME, LICENCE_NAME, Statements, render_card
from ovaflow.report.wording import size

DATASET = "dataset.h5"


def _require_language_codes(
    context: click.Context, parameter: click.Parameter, codes: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse a value that is no code of a language."""
    for code in codes:
        if not re.fullmatch("[a-z]{2,3}", code):
            raise click.BadParameter(f"{code!r} is not an ISO 639 code, such as fi.")
    return codes


@click.command("pack")
@file_argument("model")
@file_option(
    "--output",
    help="File to write, which names the model; by default DATASET-RUN.zip.",
)
@click.option(
    "--licence",
    "--license",
    metavar="SPDX|FILE",
    help="Licence of the model: an identifier, such as CC-BY-4.0, or the file of its text.",
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    callback=_require_language_codes,
    metavar="CODE",
    help="ISO 639 code of a language of the texts, such as fi; repeatable.",
)
@click.option("--intended-use", help="What the model is for; shown on the card.")
def pack_command(
    model: Path,
    output: Path | None,
    licence: str | None,
    languages: tuple[str, ...],
    intended_use: str | None,
) -> None:
    """Pack MODEL (model.h5) into one zip that opens elsewhere.

    It holds the model with its index, second stage and metrics, a model card (README.md) as model
    hubs read it, and the SHA-256 of each file.
    """
    opened = Predictor.open(model).model
    assert opened.path is not None
    name = output.stem if output else _make_model_name(opened.path)
    output = output or Path(f"{name}.zip")
    metrics = _read_metrics(opened)
    text = _read_licence(licence)
    statements = Statements(LICENCE_NAME if text else licence, languages, intended_use)
    card = render_card(name, _find_dataset_name(opened.path), opened, metrics, statements)
    files: dict[str, bytes | Path] = {CARD_NAME: card.encode()}
    if text:
        files[LICENCE_NAME] = text
    files |= list_model_files(opened)
    write_pack(output, files)
    if licence is None:
        click.echo("ovaflow: the card states no licence; give one with --licence", err=True)
    unpacked_bytes = 0
    for content in files.values():
        if isinstance(content, Path):
            unpacked_bytes += content.stat().st_size
    sizes = f"{size(output.stat().st_size)}, unpacked {size(unpacked_bytes)}"
    click.echo(f"{output}: {', '.join(files)}; {sizes}")


def _make_model_name(path: Path) -> str:
    """Return the name of a model: DATASET-RUN of results/DATASET/RUN/model.h5."""
    folder = path.resolve().parent
    return f"{folder.parent.name}-{folder.name}" if path.name == MODEL_NAME else path.stem


def _find_dataset_name(path: Path) -> str:
    """Return the name of a model's dataset, if the model is where a run wrote it."""
    folder = path.resolve().parents[1]
    return folder.name if (folder / DATASET).exists() else "test set"


def _read_metrics(model: Model) -> dict[str, Any]:
    """Read the metrics of a model on its test set; empty, with a remark, without their file."""
    try:
        return read_metrics(model)
    except InputError as error:
        click.echo(f"ovaflow: the card has no figures: {error}", err=True)
        return {}


def _read_licence(licence: str | None) -> bytes:
    """Read the text of a licence from a file; empty for an identifier."""
    if licence is None:
        return b""
    if Path(licence).is_file():
        return Path(licence).read_bytes()
    is_file_name = Path(licence).suffix in (".txt", ".md")
    if is_file_name or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]*", licence):
        message = "no such file, and no SPDX identifier such as CC-BY-4.0"
        raise InputError(message, path=licence, remedy="give one or the other")
    return b""


@click.command("unpack")
@file_argument("pack")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder to make; by default one named after the file, in this folder.",
)
def unpack_command(pack: Path, output: Path | None) -> None:
    """Unpack the PACK that ovaflow pack wrote into a new folder, and compare all checksums.

    Nothing is written unless all files are intact.
    """
    folder = output or Path(pack.stem)
    names = unpack(pack, folder)
    click.echo(f"{folder}: {', '.join(names)}")
