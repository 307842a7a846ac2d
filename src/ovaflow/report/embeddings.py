"""Label embeddings of runs: spectrum, quality by rank, nearest labels."""

from dataclasses import dataclass

from ovaflow.console.errors import InputError
from ovaflow.report import embedding_figures
from ovaflow.storage.texts import read_json

DESCRIPTION = "embedding.json"


@dataclass(frozen=True)
class EmbeddingOfRun:
    """What is known of the embedding of a run.

    Attributes
    ----------
    eigenvalues, label_covariance : list of float
        Of what was embedded, and of the labels alone, by falling size, per instance.
    points : list of dict
        ``rank`` and P@1, P@3, P@5 of its first dimensions with a decoder by least squares.
    neighbours : list of (str, list of (str, float))
        Labels, and the names and cosines of those nearest to them.
    """

    eigenvalues: list
    label_covariance: list
    points: list
    neighbours: list


def read_embedding_of(folder, label_names):
    """The embedding of a run.

    Parameters
    ----------
    folder : pathlib.Path
        Of the run.
    label_names : sequence of str

    Returns
    -------
    EmbeddingOfRun or None
        None for methods without one.

    Raises
    ------
    InputError
        If the file holds something else.
    """
    path = folder / DESCRIPTION
    if not path.exists():
        return None
    try:
        found = read_json(path, "embedding-description")
        neighbours = [
            (label_names[entry["label"]], [(label_names[label], cosine) for label, cosine in entry["nearest"]])
            for entry in found["neighbours"]
        ]
        return EmbeddingOfRun(found["eigenvalues"], found["label_covariance"], found["points"], neighbours)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"no description of an embedding ({error})", path=path, remedy="run describe-embedding again"
        ) from None


def show(anchor, section):
    """Figures of the section, and the runs that it tells nearest labels of.

    Parameters
    ----------
    anchor : str
        Of the dataset, for names that are unique on the page.
    section : Section

    Returns
    -------
    dict or None
        None leaves the section out.
    """
    runs = [run for run in section.shown if run.embedding is not None]
    if not runs:
        return None
    return {
        "runs": runs,
        "spectrum": embedding_figures.spectrum(f"{anchor}.spectrum", runs),
        "by_rank": embedding_figures.error_by_rank(f"{anchor}.ranks", runs),
    }
