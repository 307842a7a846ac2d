"""ovaflow serve."""

from pathlib import Path

import click

from ovaflow.serving.limits import Limits
from ovaflow.serving.served_model import Files
from ovaflow.serving.service import Settings, serve
from ovaflow.serving.workers import bind

_FILE = click.Path(dir_okay=False, path_type=Path)
_POSITIVE = click.IntRange(min=1)
_SECONDS = click.FloatRange(min=0, min_open=True)
_DEFAULT = Limits()


@click.command("serve")
@click.argument("model", type=_FILE)
@click.option("--calibration", type=_FILE, help="For probabilities; calibration.h5 beside the model by default.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address; 0.0.0.0 and :: are open to everybody.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0: a free one.")
@click.option("--unix-socket", type=click.Path(path_type=Path), help="Listen there, not on a port.")
@click.option("--root-path", default="", help="Path that a proxy offers the service under.")
@click.option("--workers", default=1, show_default=True, type=_POSITIVE, help="Processes; they share the model.")
@click.option("--threads", default=1, show_default=True, type=_POSITIVE, help="Scoring threads of each of them.")
@click.option("--max-body", default=_DEFAULT.body_bytes, show_default=True, type=_POSITIVE, help="Bytes of a request.")
@click.option("--max-batch", default=_DEFAULT.batch, show_default=True, type=_POSITIVE, help="Texts of a request.")
@click.option("--max-text", default=_DEFAULT.text, show_default=True, type=_POSITIVE, help="Characters of a text.")
@click.option("--max-top-k", default=_DEFAULT.top_k, show_default=True, type=_POSITIVE, help="Labels of an instance.")
@click.option(
    "--queue", default=_DEFAULT.waiting, show_default=True, type=click.IntRange(min=0), help="Waiting per worker."
)
@click.option("--max-connections", default=_DEFAULT.connections, show_default=True, type=_POSITIVE, help="Per worker.")
@click.option(
    "--timeout", default=_DEFAULT.request_seconds, show_default=True, type=_SECONDS, help="Seconds for a request."
)
@click.option(
    "--head-timeout", default=_DEFAULT.head_seconds, show_default=True, type=_SECONDS, help="Seconds for its head."
)
@click.option("--grace", default=30.0, show_default=True, type=_SECONDS, help="Seconds to finish after SIGTERM.")
@click.option("--access-log/--no-access-log", default=True, show_default=True, help="One line a request, no texts.")
@click.pass_context
def command(context, model, calibration, host, port, unix_socket, root_path, workers, threads, **options):
    """Serve MODEL (model.h5) over HTTP, with a page for people at /.

    A replaced file is taken up by itself; SIGHUP opens it again, SIGTERM ends when requests in flight are answered.
    """
    limits = Limits(
        body_bytes=options["max_body"],
        batch=options["max_batch"],
        text=options["max_text"],
        top_k=options["max_top_k"],
        waiting=options["queue"],
        connections=options["max_connections"],
        head_seconds=options["head_timeout"],
        request_seconds=options["timeout"],
    )
    settings = Settings(workers, threads, limits, root_path.rstrip("/"), options["access_log"], options["grace"])
    listener = bind(host, port, unix_socket)
    context.exit(serve(Files(model, calibration), listener, settings))
