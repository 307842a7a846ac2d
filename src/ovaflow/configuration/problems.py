"""Problems that runs solve for their labels: one sample of the labels tells what each of them takes."""

STORED_THRESHOLD = 0.01
"""Shards keep all weights of at least this size, so that pruning more needs no training."""


def stored_threshold(train):
    """Size from which on weights are stored in shards.

    Parameters
    ----------
    train : ovaflow.configuration.schema.Train

    Returns
    -------
    float
    """
    return min(train.prune, STORED_THRESHOLD)


def problem_of(settings, run):
    """Name of the problem that a run solves, wherever it starts.

    Parameters
    ----------
    settings : Settings
    run : str

    Returns
    -------
    str
        Runs that start from others have the name of the first of them, so
        that a sweep needs one sample.
    """
    train = settings.train_of(_first(settings, run))
    tail = f"C{train.C:g}-epsilon{train.epsilon:g}-stored{stored_threshold(train):g}"
    return f"{train.loss}-{train.regularization}-{train.weighting}-{tail}"


def _first(settings, run):
    while settings.runs[run].pretrained in settings.runs:
        run = settings.runs[run].pretrained
    return run


def by_name(settings):
    """The problems of all runs.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    dict of str to str
        A run that solves it, by name.
    """
    return {problem_of(settings, run): _first(settings, run) for run in settings.runs_of("one-vs-all")}


def estimate_file(settings, dataset, run):
    """What a sample of the labels took, for all runs that solve the same problem.

    Parameters
    ----------
    settings : Settings
    dataset, run : str
        That of the whole dataset serves one without its held-out instances, too.

    Returns
    -------
    str
    """
    dataset = dataset.partition("/")[0]
    return f"results/{dataset}/estimates/{problem_of(settings, run)}.json"
