"""The prepare step: from a source to all that the dataset file holds."""

from ovaflow.data.prepare_features import prepare_feature_files
from ovaflow.data.prepare_texts import prepare_docstrings, prepare_text_files
from ovaflow.data.readers.formats import FEATURE_FORMATS, TEXT_FORMATS

FORMATS = ("builtin", *FEATURE_FORMATS, *TEXT_FORMATS)


def prepare(source, settings):
    """Prepare any source.

    Parameters
    ----------
    source : ovaflow.data.preparation.Source
    settings : ovaflow.data.preparation.Settings

    Returns
    -------
    ovaflow.data.preparation.Prepared

    Raises
    ------
    InputError
        If the source or a setting does not fit.
    """
    source.require_files()
    if source.format == "builtin":
        return prepare_docstrings(source, settings)
    if source.format in TEXT_FORMATS:
        return prepare_text_files(source, settings)
    return prepare_feature_files(source, settings)
