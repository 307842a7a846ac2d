"""ovaflow serve."""

from pathlib import Path
from types import SimpleNamespace

import click

from ovaflow.serving.service import bind, serve

_FILE = click.Path(dir_okay=False, path_type=Path)
_POSITIVE = click.IntRange(min=1)
_SECONDS = click.FloatRange(min=0, min_open=True)


@click.command("serve", context_settings={"show_default": True})
@click.argument("model", type=_FILE)
@click.option("--calibration", type=_FILE, help="For probabilities; calibration.h5 next to the model by default.")
@click.option("--host", default="127.0.0.1", help="Address; 0.0.0.0 and :: are open to everybody.")
@click.option("--port", default=8000, type=click.IntRange(0, 65535), help="0: a free one.")
@click.option("--unix-socket", type=click.Path(path_type=Path), help="Listen there, not on a port.")
@click.option("--root-path", default="", help="Path that a proxy offers the service under.")
@click.option("--workers", default=1, type=_POSITIVE, help="Processes; they share the model's arrays.")
@click.option("--threads", default=1, type=_POSITIVE, help="Scoring threads of each of them.")
@click.option("--max-body", default=4 << 20, type=_POSITIVE, help="Bytes of a request.")
@click.option("--max-batch", default=128, type=_POSITIVE, help="Texts of a request.")
@click.option("--max-text", default=100_000, type=_POSITIVE, help="Characters of a text.")
@click.option("--max-top-k", default=100, type=_POSITIVE, help="Labels of an instance.")
@click.option("--queue", default=64, type=click.IntRange(min=0), help="Waiting requests per worker.")
@click.option("--max-connections", default=1000, type=_POSITIVE, help="Per worker.")
@click.option("--timeout", default=30.0, type=_SECONDS, help="Seconds for the answer to a request.")
@click.option("--grace", default=30, type=_POSITIVE, help="Seconds to finish after SIGTERM.")
@click.option("--access-log/--no-access-log", default=True, help="One line per request, no texts.")
@click.pass_context
def serve_command(context, host, port, unix_socket, **options):
    """Serve MODEL (model.h5) over HTTP, with a page for people at /.

    SIGTERM ends it when requests in flight are answered. With several workers, SIGHUP replaces one after another, so
    that they open a replaced file.
    """
    context.exit(serve(SimpleNamespace(**options), bind(host, port, unix_socket)))
