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


def problem_of(settings, dataset, run):
    """Name of the problem that a run solves, wherever it starts.

    Parameters
    ----------
    settings : Settings
    dataset, run : str

    Returns
    -------
    str
        All that the problem depends on beside the dataset. Runs that start
        from others have the name of the first of them, so that a sweep needs
        one sample.
    """
    train, evaluate = settings.train_of(_first(settings, run)), settings.evaluate_of(dataset)
    propensities = f"-{evaluate.propensity_a:g}-{evaluate.propensity_b:g}" if train.weighting != "none" else ""
    tail = f"C{train.C:g}-epsilon{train.epsilon:g}-stored{stored_threshold(train):g}"
    return f"{train.loss}-{train.regularization}-{train.weighting}{propensities}-{tail}"


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
    return {
        problem_of(settings, dataset, run): _first(settings, run)
        for dataset in settings.datasets
        for run in settings.runs_of("one-vs-all")
    }


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
    return f"results/{dataset}/estimates/{problem_of(settings, dataset, run)}.json"
