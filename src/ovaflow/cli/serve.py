"""ovaflow serve."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from ovaflow.cli.options import second_stage_options
from ovaflow.serving.service import bind_listener, list_allowed_hosts, serve

_NAME_PATTERN = re.compile(r"[\w.-]+")
_HOST_PATTERN = re.compile(r"\*|(\*\.)?[\w.-]+|\[[\da-fA-F:.]+\]")
_ORIGIN_PATTERN = re.compile(r"\*|https?://[^/\s]+")
_POSITIVE_TYPE = click.IntRange(min=1)
_SECONDS_TYPE = click.FloatRange(min=0, min_open=True)


@click.command("serve", context_settings={"show_default": True})
@click.argument("models", nargs=-1, required=True, metavar="[NAME=]MODEL...")
@second_stage_options
@click.option(
    "--host", default="127.0.0.1", help="Address to listen on; 0.0.0.0 and :: are open to everyone."
)
@click.option(
    "--port", default=8000, type=click.IntRange(0, 65535), help="Port; 0 takes a free one."
)
@click.option(
    "--unix-socket",
    type=click.Path(path_type=Path),
    help="Unix socket to listen on instead of a port.",
)
@click.option(
    "--allowed-host",
    multiple=True,
    help="Name by which clients may call the service, such as labels.example.org, *.example.org or"
    " *; repeatable. By default any name, or only localhost if the service listens on this machine"
    " alone.",
)
@click.option(
    "--allowed-origin",
    multiple=True,
    help="Site whose pages may send requests, such as https://catalogue.example.org, or *;"
    " repeatable. By default only the service's own page.",
)
@click.option("--root-path", default="", help="Path under which a proxy offers the service.")
@click.option(
    "--marc-source", help="Vocabulary in MARC 650 $2, such as yso/fin; by default its file's name."
)
@click.option(
    "--corrections",
    multiple=True,
    metavar="[NAME=]FILE",
    help="File of JSON Lines to which labels that people choose are added, for the next training;"
    " of the first model, or of the one called NAME; repeatable.",
)
@click.option(
    "--ask-to-save",
    default="suggested",
    type=click.Choice(["suggested", "changed", "never"]),
    help="What the page asks about before it leaves a record that is not saved: all its labels, the"
    " suggested ones too; only what a person changed; nothing.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="[NAME=]FILE",
    help="File of labels that are never suggested, one name, URI or pattern per line, read"
    " again"
    " when it changes; of the first model, or of the one called NAME; repeatable.",
)
@click.option(
    "--workers", default=1, type=_POSITIVE_TYPE, help="Processes, which share the model's arrays."
)
@click.option("--threads", default=1, type=_POSITIVE_TYPE, help="Scoring threads of each worker.")
@click.option(
    "--max-body", default=4 << 20, type=_POSITIVE_TYPE, help="Maximum size of a request, in bytes."
)
@click.option(
    "--max-batch", default=128, type=_POSITIVE_TYPE, help="Maximum number of texts per request."
)
@click.option(
    "--max-text",
    default=1_000_000,
    type=_POSITIVE_TYPE,
    help="Maximum length of a text, in characters.",
)
@click.option(
    "--max-top-k", default=100, type=_POSITIVE_TYPE, help="Maximum number of labels per instance."
)
@click.option(
    "--queue",
    default=64,
    type=click.IntRange(min=0),
    help="Maximum number of waiting requests per worker.",
)
@click.option(
    "--max-connections",
    default=1000,
    type=_POSITIVE_TYPE,
    help="Maximum number of connections per worker.",
)
@click.option(
    "--timeout",
    default=30.0,
    type=_SECONDS_TYPE,
    help="Seconds within which a body must arrive, and then be answered.",
)
@click.option(
    "--grace", default=30, type=_POSITIVE_TYPE, help="Seconds to finish requests after SIGTERM."
)
@click.option(
    "--access-log/--no-access-log", default=True, help="Log one line per request, without texts."
)
@click.pass_context
def serve_command(
    context: click.Context,
    *,
    models: tuple[str, ...],
    host: str,
    port: int,
    unix_socket: Path | None,
    allowed_host: tuple[str, ...],
    corrections: tuple[str, ...],
    exclude: tuple[str, ...],
    **options: Any,
) -> None:
    """Serve each MODEL (model.h5) over HTTP, with a page for people at /.

    The first model answers on the page and in ovaflow's own interface. All models are projects of
    Annif's interface, called NAME or else after their files, model.h5 after its folder.

    SIGTERM ends it once requests in flight are answered. SIGHUP restarts one worker after the
    other, so that they open a model that has been replaced.
    """
    if options["reranker"] and len(models) > 1:
        raise click.UsageError("--reranker belongs to one model: put a reranker.h5 next to each")
    _require_match(
        "allowed-host",
        allowed_host,
        _HOST_PATTERN,
        "give a name without port, or * or *. and a name",
    )
    _require_match(
        "allowed-origin",
        options["allowed_origin"],
        _ORIGIN_PATTERN,
        "give http:// or https:// and a name, or *",
    )
    named = _name_models(models)
    options["corrections"] = _assign_files("corrections", corrections, named)
    options["exclude"] = _assign_files("exclude", exclude, named)
    listener = bind_listener(host, port, unix_socket)
    hosts = list_allowed_hosts(listener, allowed_host)
    context.exit(serve(SimpleNamespace(models=named, allowed_host=hosts, **options), listener))


def _require_match(
    option: str, values: Iterable[str], pattern: re.Pattern[str], remedy: str
) -> None:
    """Refuse values of an option that do not match a pattern."""
    for value in values:
        if not pattern.fullmatch(value):
            raise click.UsageError(f"--{option} {value}: {remedy}")


def _name_models(models: Sequence[str]) -> dict[str, str]:
    """Return the paths of [NAME=]MODEL by name."""
    paths: dict[str, str] = {}
    for model in models:
        name, equals, path = model.rpartition("=")
        if not equals or Path(model).exists():
            path = model
            # a link that is switched to the newest model keeps its name
            name = _make_default_name(Path(os.path.abspath(path)))
        if not _NAME_PATTERN.fullmatch(name):
            raise click.UsageError(
                f"{name!r} is not a valid project name: use letters, digits, '.', '_' and '-'"
            )
        if paths.setdefault(name, path) != path:
            raise click.UsageError(f"two models are named {name!r}: write NAME=MODEL")
    return paths


def _assign_files(option: str, files: Sequence[str], models: Mapping[str, str]) -> dict[str, str]:
    """Return the files of an option by the name of their model, by default the first one."""
    paths: dict[str, str] = {}
    for file in files:
        name, equals, path = file.rpartition("=")
        if not equals:
            name = next(iter(models))
        if name not in models:
            raise click.UsageError(f"--{option} {file}: no model is named {name!r}")
        if name in paths:
            raise click.UsageError(f"--{option}: two files for the model {name!r}")
        paths[name] = path
    return paths


def _make_default_name(path: Path) -> str:
    """Return the name of a model without one: that of its folder, or of its file."""
    name = path.parent.name if path.name == "model.h5" else path.stem
    return re.sub(r"[^\w.-]+", "-", name) or "model"
