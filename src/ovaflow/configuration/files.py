"""Which files the steps of a config read and make, by dataset and run; those that must be there at the start."""

import difflib
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ovaflow.configuration.chains import earlier_model, made_here, warm_runs
from ovaflow.configuration.schema import ROLES
from ovaflow.configuration.starts import FROM_ROOT, FROM_TREE
from ovaflow.console.errors import InputError

DOWNLOADS = "downloads"
"""Folder of downloaded files."""
_LONGEST = 100
"""Letters of a downloaded file's name; its log's name is longer, and 255 are possible."""


def raw_files(settings, dataset):
    """Files that a dataset of one's own is made from.

    Parameters
    ----------
    settings : Settings
    dataset : str

    Returns
    -------
    dict of str to str
        Path of each file by its role, a key of the dataset's entry.
    """
    entry = settings.datasets[dataset]
    locations = {role: getattr(entry, role) for role in ROLES if getattr(entry, role) is not None}
    return {
        role: f"{DOWNLOADS}/{dataset}/{role}/{download_name(place)}" if is_address(place) else os.path.normpath(place)
        for role, place in locations.items()
    }


def is_address(location):
    """Whether a file of a dataset must be downloaded.

    Parameters
    ----------
    location : str

    Returns
    -------
    bool
    """
    return location.startswith(("http://", "https://"))


def download_name(address):
    """File name for a downloaded address, its endings kept, since they tell how it is compressed.

    Parameters
    ----------
    address : str

    Returns
    -------
    str
        Letters, digits, dots, dashes and underscores.
    """
    last = unquote(urlsplit(address).path.rsplit("/", 1)[-1])
    # repeated letters look like an endless recursion to Snakemake
    plain = re.sub(r"(.)\1{9,}", r"\1", re.sub(r"[^A-Za-z0-9._-]", "_", last))
    return re.sub(r"^[.-]", "_", plain[-_LONGEST:]) or "data"


def start_files(settings, dataset, run):
    """Artifacts and earlier models that the start of a run needs beside the means.

    Parameters
    ----------
    settings : Settings
    dataset, run : str

    Returns
    -------
    dict of str to str
        Paths by option.
    """
    root = {"root": f"results/{dataset}/{run}/root.h5"} if settings.runs[run].initialization in FROM_ROOT else {}
    model = earlier_model(settings, dataset, run)
    earlier = {} if model is None else {"earlier": model}
    return root | earlier | tree_file(settings, dataset, run)


def tree_file(settings, dataset, run):
    """The label tree, for runs that start from it.

    Parameters
    ----------
    settings : Settings
    dataset, run : str

    Returns
    -------
    dict of str to str
        Path by option; empty for other runs.
    """
    needed = settings.runs[run].initialization in FROM_TREE
    return {"label_tree": f"results/{dataset}/label_tree.h5"} if needed else {}


def embedding_name(settings, run):
    """Name of the embedding of a run, the same for all runs that embed alike.

    Parameters
    ----------
    settings : Settings
    run : str

    Returns
    -------
    str
    """
    embedding = settings.embedding_of(run)
    if embedding.embedding == "none":
        return "none"
    ridges = "_".join(f"{ridge:g}" for ridge in embedding.ridges)
    tail = f"{embedding.rank}-p{embedding.oversampling}-q{embedding.passes}-ridge{ridges}-{embedding.seed}"
    return f"{embedding.embedding}-{tail}"


def embeddings(settings):
    """The embeddings that runs need.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    dict of str to str
        A run that has it, by name.
    """
    return {embedding_name(settings, run): run for run in settings.runs_of("rembrandt")}


def figure_files(settings):
    """Files of the runs that are made for the report's figures alone.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of str
        Traces of the runs that ask for them, prune curves, and curves over the trees.
    """
    solved = settings.runs_of("one-vs-all")
    traced = [run for run in solved if settings.train_of(run).trace]
    curves = solved if settings.report.prune_thresholds else ()
    files = [(run, "trace.h5") for run in traced] + [(run, "prune.json") for run in curves]
    files += [(run, "trees.json") for run in settings.runs_of("fastxml")]
    files += [(run, "embedding.json") for run in settings.runs_of("rembrandt")]
    return [f"results/{dataset}/{run}/{file}" for dataset in settings.datasets for run, file in files]


def cold_starts(settings):
    """Files of ``ovaflow cold-start``.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of str
    """
    runs = warm_runs(settings)
    return [f"results/{dataset}/{run}/cold_start.json" for dataset in settings.datasets for run in runs]


def require_files(settings):
    """Refuse a config whose files are not there; warn where only what was prepared from them is.

    Parameters
    ----------
    settings : Settings

    Raises
    ------
    InputError
        Unless each file exists, will be downloaded, or has been prepared, and
        each earlier model exists or is that of another run.
    """
    for dataset in settings.datasets:
        prepared = Path(f"results/{dataset}/dataset.h5")
        for role, path in raw_files(settings, dataset).items():
            if path.startswith(f"{DOWNLOADS}/") or Path(path).is_file():
                continue
            message = f"datasets.{dataset}.{role}: no such file: {path}"
            if not prepared.exists():
                raise InputError(message, remedy=f"paths are relative to {Path.cwd()}")
            print(f"ovaflow: warning: {message}; {prepared} stays as it is, whatever else changes", file=sys.stderr)
    _require_models(settings)


def _require_models(settings):
    """Refuse runs whose earlier model neither exists nor is made here."""
    for run, entry in settings.runs.items():
        paths = [earlier_model(settings, dataset, run) for dataset in settings.datasets]
        if not all(path is None or made_here(settings, path) or Path(path).is_file() for path in paths):
            close = difflib.get_close_matches(entry.pretrained, settings.runs, n=1)
            raise InputError(
                f"runs.{run}.pretrained: no run and no file {entry.pretrained}",
                remedy=f"did you mean {close[0]}?" if close else f"paths are relative to {Path.cwd()}",
            )
