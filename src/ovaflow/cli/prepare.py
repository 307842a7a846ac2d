"""``ovaflow prepare``."""

import click

from ovaflow.cli.numbers import Finite
from ovaflow.data.preparation import Settings, Source
from ovaflow.data.prepare import FORMATS, prepare
from ovaflow.data.tfidf import Selection

_FILE = click.Path(dir_okay=False)
_TFIDF = {"auto": None, "true": True, "false": False}
_SOURCE = tuple(Source.__dataclass_fields__)


class _Frequency(click.ParamType):
    """A whole number of instances, or a share of them."""

    name = "count|share"

    def convert(self, value, param, context):
        if not isinstance(value, str):
            return value
        try:
            number = float(value) if set(value) & set(".eE") else int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a whole number nor a share such as 0.5", param, context)
        if not 0 <= number <= (1 if isinstance(number, float) else number):
            self.fail(f"{value} is neither a whole number nor between 0.0 and 1.0", param, context)
        return number


@click.command("prepare")
@click.option("--format", required=True, type=click.Choice(FORMATS), help="builtin needs no files.")
@click.option("--train", type=_FILE, help="Training instances.")
@click.option("--train-labels", type=_FILE, help="Labels of the training instances (npz).")
@click.option("--test", type=_FILE, help="Test instances; by default a share of the training file.")
@click.option("--test-labels", type=_FILE, help="Labels of the test instances (npz).")
@click.option("--labels", type=_FILE, help="Label names, one a line in id order; texts then have ids as labels.")
@click.option(
    "--text-column", default="text", show_default=True, help="csv, jsonl, parquet: one or several, separated by commas."
)
@click.option("--labels-column", default="labels", show_default=True, help="csv, jsonl, parquet.")
@click.option("--label-separator", default=",", show_default=True, help="Between labels that are no list.")
@click.option("--tfidf", type=click.Choice(list(_TFIDF)), default="auto", show_default=True, help="auto: texts only.")
@click.option("--min-df", type=_Frequency(), default=2, show_default=True, help="Drop rarer tokens (texts).")
@click.option("--max-df", type=_Frequency(), default=0.5, show_default=True, help="Drop commoner tokens (texts).")
@click.option("--max-features", type=click.IntRange(1), help="Keep the most frequent tokens (texts).")
@click.option("--sublinear/--no-sublinear", default=True, show_default=True, help="log(1 + tf) instead of tf.")
@click.option("--normalize/--no-normalize", default=True, show_default=True, help="Scale instances to length 1.")
@click.option("--bias", type=Finite(0), default=1.0, show_default=True, help="Value of the bias feature, 0 for none.")
@click.option(
    "--test-fraction",
    type=Finite(0, 1),
    default=0.2,
    show_default=True,
    help="Share set aside, without --test.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, another division.")
@click.option("--output", required=True, type=_FILE, help="The dataset file.")
def command(output, tfidf, min_df, max_df, max_features, **options):
    """Turn a dataset's source into dataset.h5."""
    source = Source(**{name: options.pop(name) for name in _SOURCE})
    if source.format != "builtin" and source.train is None:
        raise click.UsageError(f"--format={source.format} needs --train")
    prepared = prepare(source, Settings(_TFIDF[tfidf], Selection(min_df, max_df, max_features), **options))
    prepared.write(output)
    click.echo(f"{output}: {prepared.summary()}")
    for remark in prepared.remarks():
        click.echo(f"remark: {remark}")
