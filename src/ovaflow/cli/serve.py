"""ovaflow serve."""

from pathlib import Path
from types import SimpleNamespace

import click

from ovaflow.cli.options import FILE
from ovaflow.serving.service import bind, serve

_POSITIVE = click.IntRange(min=1)
_SECONDS = click.FloatRange(min=0, min_open=True)


@click.command("serve", context_settings={"show_default": True})
@click.argument("model", type=FILE)
@click.option("--calibration", type=FILE, help="For probabilities; calibration.h5 next to the model by default.")
@click.option("--host", default="127.0.0.1", help="Address to listen on; 0.0.0.0 and :: are open to everybody.")
@click.option("--port", default=8000, type=click.IntRange(0, 65535), help="Port; 0 takes a free one.")
@click.option("--unix-socket", type=click.Path(path_type=Path), help="Listen there instead of on a port.")
@click.option("--root-path", default="", help="Path under which a proxy offers the service.")
@click.option("--workers", default=1, type=_POSITIVE, help="Processes, which share the model's arrays.")
@click.option("--threads", default=1, type=_POSITIVE, help="Scoring threads of each worker.")
@click.option("--max-body", default=4 << 20, type=_POSITIVE, help="Largest request, in bytes.")
@click.option("--max-batch", default=128, type=_POSITIVE, help="Most texts in a request.")
@click.option("--max-text", default=100_000, type=_POSITIVE, help="Longest text, in characters.")
@click.option("--max-top-k", default=100, type=_POSITIVE, help="Most labels returned for an instance.")
@click.option("--queue", default=64, type=click.IntRange(min=0), help="Most waiting requests per worker.")
@click.option("--max-connections", default=1000, type=_POSITIVE, help="Most connections per worker.")
@click.option("--timeout", default=30.0, type=_SECONDS, help="Seconds in which a request must be answered.")
@click.option("--grace", default=30, type=_POSITIVE, help="Seconds to finish after SIGTERM.")
@click.option("--access-log/--no-access-log", default=True, help="Log one line per request, without texts.")
@click.pass_context
def serve_command(context, host, port, unix_socket, **options):
    """Serve MODEL (model.h5) over HTTP, with a page for people at /.

    SIGTERM ends it once requests in flight are answered. With several workers, SIGHUP restarts one after the other, so
    that they open a model that has been replaced.
    """
    context.exit(serve(SimpleNamespace(**options), bind(host, port, unix_socket)))
