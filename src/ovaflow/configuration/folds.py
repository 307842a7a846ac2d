"""What is trained once more without some instances, so that these can tell what scores mean."""

HELD_OUT = "held-out-"
"""Folders of what is trained without the held-out instances begin like this; no run and no dataset does."""

BEST = 100
"""Labels of each held-out instance whose scores are kept."""


def fold_of(settings, dataset, run):
    """The dataset without the instances that are held out to calibrate a run.

    Parameters
    ----------
    settings : Settings
    dataset, run : str

    Returns
    -------
    str or None
        Such as ``"docstrings/held-out-0.2"``, a folder of its own beside the
        runs, where the run is trained again; None where it is not calibrated.
    """
    share = settings.predict_of(run).calibrate
    return f"{dataset}/{HELD_OUT}{share:g}" if share else None


def folds(settings):
    """All folders of :func:`fold_of`.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of str
    """
    found = [fold_of(settings, dataset, run) for dataset in settings.datasets for run in settings.runs]
    return sorted({fold for fold in found if fold is not None})


def calibration_files(settings):
    """Files of the runs that are calibrated.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of str
        Calibrations and what they were found to be worth.
    """
    runs = [run for run in settings.runs if settings.predict_of(run).calibrate]
    names = ("calibration.h5", "calibration.json")
    return [f"results/{dataset}/{run}/{name}" for dataset in settings.datasets for run in runs for name in names]


def is_fold(dataset):
    """Whether this is a dataset without its held-out instances.

    Parameters
    ----------
    dataset : str

    Returns
    -------
    bool
    """
    return "/" in dataset
