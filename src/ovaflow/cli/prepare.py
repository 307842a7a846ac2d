"""``ovaflow prepare``."""

import click

from ovaflow.data.prepare import Settings, prepare_docstrings
from ovaflow.data.tfidf import Selection


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
        if number < 0 or (isinstance(number, float) and not number <= 1):
            self.fail(f"{value} is neither a whole number nor between 0.0 and 1.0", param, context)
        return number


_TFIDF = {"auto": None, "true": True, "false": False}


@click.command("prepare")
@click.option("--format", "form", required=True, type=click.Choice(["builtin"]))
@click.option(
    "--tfidf", type=click.Choice(list(_TFIDF)), default="auto", show_default=True, help="auto: texts yes, features no."
)
@click.option("--min-df", type=_Frequency(), default=2, show_default=True, help="Drop rarer tokens (texts).")
@click.option("--max-df", type=_Frequency(), default=0.5, show_default=True, help="Drop commoner tokens (texts).")
@click.option("--max-features", type=click.IntRange(1), help="Keep the most frequent tokens (texts).")
@click.option("--sublinear/--no-sublinear", default=True, show_default=True, help="log(1 + tf) instead of tf.")
@click.option("--normalize/--no-normalize", default=True, show_default=True, help="Scale instances to length 1.")
@click.option("--bias", type=float, default=1.0, show_default=True, help="Value of the bias feature, 0 for none.")
@click.option("--test-fraction", type=click.FloatRange(0, 1), default=0.2, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--output", required=True, type=click.Path(dir_okay=False), help="The dataset file.")
def command(form, output, tfidf, min_df, max_df, max_features, **settings):
    """Turn a dataset's source into dataset.h5."""
    settings = Settings(_TFIDF[tfidf], Selection(min_df, max_df, max_features), **settings)
    prepared = prepare_docstrings(settings)
    prepared.write(output)
    click.echo(f"{output}: {prepared.summary()}")
