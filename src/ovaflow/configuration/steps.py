"""What each step of the pipeline depends on: the options of its subcommand and the code that runs.

The rules of the workflow carry these as params, so that a changed setting
re-runs the steps that it touches and no other.
"""

from ovaflow.configuration.chains import sweeps_of
from ovaflow.configuration.folds import BEST, is_fold
from ovaflow.configuration.problems import stored_threshold
from ovaflow.configuration.schema import TEXT_FORMATS
from ovaflow.configuration.starts import OWN_SETTINGS
from ovaflow.fingerprint import code_fingerprint, kernel_fingerprint

_TEXT = ("min_df", "max_df", "max_features")
_SPLIT = ("test_fraction", "seed")
_TABLE = ("text_column", "labels_column")


def options_of(section, keys):
    """Settings as options of a subcommand.

    Parameters
    ----------
    section : pydantic.BaseModel
    keys : iterable of str
        The settings wanted; ``None`` values are left out.

    Returns
    -------
    list of str
        Such as ``["--C=1.0", "--no-normalize"]``.
    """
    values = {key: getattr(section, key) for key in keys}
    return [_option(key.replace("_", "-"), value) for key, value in values.items() if value is not None]


def _option(name, value):
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    return f"--{name}={value}"


def prepare_options(settings, dataset):
    """Options of ``ovaflow prepare``, without its files.

    Parameters
    ----------
    settings : Settings
    dataset : str

    Returns
    -------
    list of str
    """
    entry, prepare = settings.datasets[dataset], settings.prepare_of(dataset)
    form = entry.format or entry.source
    texts = form in ("builtin", *TEXT_FORMATS)
    tfidf = texts if prepare.tfidf == "auto" else prepare.tfidf
    split = entry.test is None
    keys = ["normalize", "bias"]
    keys += _TEXT if texts else ()
    keys += ("sublinear",) if texts or tfidf else ()
    keys += _SPLIT if split else ()
    keys += _TABLE if form in ("jsonl", "csv", "parquet") else ()
    keys += ("label_separator",) if form in TEXT_FORMATS else ()
    return [f"--format={form}", f"--tfidf={str(tfidf).lower()}", *options_of(prepare, keys)]


def plan_options(settings, run):
    """Options of ``ovaflow plan``.

    Parameters
    ----------
    settings : Settings
    run : str

    Returns
    -------
    list of str
    """
    return options_of(settings.train_of(run), ["shards"])


def root_options(settings, run):
    """Options of ``ovaflow root``.

    Parameters
    ----------
    settings : Settings
    run : str

    Returns
    -------
    list of str
    """
    return options_of(settings.train_of(run), ["C", "loss", "root_epsilon"])


def train_options(settings, run):
    """Options of ``ovaflow train-shard``, without threads, which change no result.

    Parameters
    ----------
    settings : Settings
    run : str

    Returns
    -------
    list of str
    """
    return _solver_options(settings, run, settings.runs[run].initialization)


def cold_start_options(settings, run):
    """Options of ``ovaflow cold-start``.

    Parameters
    ----------
    settings : Settings
    run : str
        Of :func:`~ovaflow.configuration.chains.warm_runs`.

    Returns
    -------
    list of str
    """
    return _solver_options(settings, run, settings.runs[run].cold_start)


def sample_options(settings, dataset, run):
    """Options of ``ovaflow estimate``, from the mean-separating start, wherever the run starts.

    Parameters
    ----------
    settings : Settings
    dataset, run : str

    Returns
    -------
    list of str
    """
    train = settings.train_of(run)
    return [
        *options_of(train, ["C", "loss", "epsilon", "regularization"]),
        *weighting_options(settings, dataset, run),
        f"--prune={stored_threshold(train)}",
    ]


def _solver_options(settings, run, initialization):
    train = settings.train_of(run)
    train = train.model_copy(update={"t": train.negative_score})
    return [
        f"--initialization={initialization}",
        *options_of(train, ["C", "loss", "epsilon", *OWN_SETTINGS[initialization]]),
        *(["--regularization=l1"] if train.regularization == "l1" else []),
        f"--stored-threshold={stored_threshold(train)}",
    ]


def weighting_options(settings, dataset, run):
    """Options of ``ovaflow train-shard`` that depend on the dataset, too: how positives are weighted.

    Parameters
    ----------
    settings : Settings
    dataset : str
    run : str

    Returns
    -------
    list of str
        Empty where all instances weigh the same, whatever the propensities.
    """
    weighting = settings.train_of(run).weighting
    return [] if weighting == "none" else [f"--weighting={weighting}", *evaluate_options(settings, dataset)]


def trees_options(settings, dataset, run):
    """Options of ``ovaflow train-trees``, without threads, which change no result.

    Parameters
    ----------
    settings : Settings
    dataset : str
    run : str

    Returns
    -------
    list of str
    """
    trees = settings.trees_of(run)
    shards = options_of(settings.train_of(run), ["shards"])
    return [*shards, *options_of(trees, type(trees).model_fields), *weighting_options(settings, dataset, run)]


_EMBEDDING = ("embedding", "rank", "oversampling", "passes", "seed")


def embed_options(settings, run):
    """Options of ``ovaflow embed``, without threads, which change no result.

    Parameters
    ----------
    settings : Settings
    run : str

    Returns
    -------
    list of str
    """
    embedding = settings.embedding_of(run)
    if embedding.embedding == "none":
        return options_of(embedding, ["embedding"])
    return [*options_of(embedding, _EMBEDDING), *(_option("ridge", ridge) for ridge in embedding.ridges)]


def project_options(settings, run):
    """Options of ``ovaflow project``, without threads, which change no result.

    Parameters
    ----------
    settings : Settings
    run : str

    Returns
    -------
    list of str
    """
    embedding = settings.embedding_of(run)
    random = () if embedding.features == "linear" else ("random_features", "bandwidth", "seed")
    return options_of(embedding, ["decoder", "features", *random])


def tune_options(settings, run):
    """Options of ``ovaflow tune-decoder``, without threads, which change no result.

    Parameters
    ----------
    settings : Settings
    run : str

    Returns
    -------
    list of str
    """
    embedding = settings.embedding_of(run)
    weights = [_option("C", C) for C in embedding.decoder_candidates]
    return [*weights, _option("epsilon", embedding.decoder_epsilon), *options_of(embedding, ["held_out", "seed"])]


def decoder_options(settings, run):
    """Options of ``ovaflow train-decoder``, without threads, which change no result.

    Parameters
    ----------
    settings : Settings
    run : str

    Returns
    -------
    list of str
    """
    return options_of(settings.train_of(run), ["shards"])


def warm_up_options(settings):
    """Options of ``ovaflow warm-up``.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of str
    """
    trains = [settings.train_of(run) for run in settings.runs_of("one-vs-all")]
    problems = sorted({f"--problem={train.loss}/{train.regularization}" for train in trains})
    return [*problems, *(f"--{method}" for method in ("fastxml", "rembrandt") if settings.runs_of(method))]


def trace_options(settings, dataset, run):
    """Options of ``ovaflow trace``.

    Parameters
    ----------
    settings : Settings
    dataset : str
    run : str

    Returns
    -------
    list of str
    """
    keeps_weights = "--stored-threshold="
    solved = [option for option in train_options(settings, run) if not option.startswith(keeps_weights)]
    return [*solved, *weighting_options(settings, dataset, run), f"--labels={settings.train_of(run).trace}"]


def merge_options(settings, run):
    """Options of ``ovaflow merge``.

    Parameters
    ----------
    settings : Settings
    run : str

    Returns
    -------
    list of str
    """
    return options_of(settings.train_of(run), ["prune"])


def predict_options(settings, dataset, run):
    """Options of ``ovaflow predict``, without threads, which change no result.

    Parameters
    ----------
    settings : Settings
    dataset : str
    run : str

    Returns
    -------
    list of str
    """
    return [f"--top-k={BEST}"] if is_fold(dataset) else options_of(settings.predict_of(run), ["top_k"])


def evaluate_options(settings, dataset):
    """Options of ``ovaflow evaluate``.

    Parameters
    ----------
    settings : Settings
    dataset : str

    Returns
    -------
    list of str
    """
    return options_of(settings.evaluate_of(dataset), ["propensity_a", "propensity_b"])


def prune_curve_options(settings, dataset):
    """Options of ``ovaflow prune-curve``, without threads, which change no result.

    Parameters
    ----------
    settings : Settings
    dataset : str

    Returns
    -------
    list of str
    """
    thresholds = [f"--threshold={threshold}" for threshold in settings.report.prune_thresholds]
    return [*thresholds, *evaluate_options(settings, dataset)]


def report_options(settings):
    """Options of ``ovaflow report``.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of str
    """
    sweeps = [f"--sweep={name}={','.join(runs)}" for name, runs in sweeps_of(settings).items()]
    stated = ["intended_use", "licence", "watts_per_core", "grams_per_kwh"]
    return options_of(settings.report, ["examples", *stated]) + sweeps


def code_of(subcommand):
    """Fingerprint of the code that a subcommand executes.

    Parameters
    ----------
    subcommand : str
        Such as ``"train-shard"``.

    Returns
    -------
    str
    """
    if subcommand == "warm-up":
        return kernel_fingerprint()
    return code_fingerprint(f"ovaflow.cli.{subcommand.replace('-', '_')}")
