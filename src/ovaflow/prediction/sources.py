"""Instances to predict, read in batches from files or standard input in any format.

Files are read with the settings of the model's data.
"""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.dataset.vectors import stack_vectors
from ovaflow.model.model_file import Model
from ovaflow.prediction.predictor import FeaturesAndFamiliarity, Predictor
from ovaflow.reading.columns import split_column_names
from ovaflow.reading.feature_columns import COLUMN_KINDS, FeatureColumn, make_feature_columns
from ovaflow.reading.foreign import refuse_foreign
from ovaflow.reading.formats import (
    FORMATS,
    LINES_FORMAT,
    PLAIN_LINES,
    Format,
    file_ending,
    guess_format,
)
from ovaflow.reading.instances import FIELD_SEPARATOR, Reading, join_fields, merge_repeated
from ovaflow.reading.part_files import guess_folder_format
from ovaflow.reading.streams import RecordFile, find_matching_paths
from ovaflow.records.source import find_record_files, make_reading
from ovaflow.settings.prepare import PrepareSource, require_settings_of_format
from ovaflow.settings.source import ReadTexts
from ovaflow.sparse.csr import CSR, from_scipy

STDIN = RecordFile.STDIN
READ_FORMATS = (LINES_FORMAT, *FORMATS)

BATCH_SIZE = 512
"""Most instances that are scored together."""

# settings that name columns of numbers and categories
_FEATURE_COLUMN_SETTINGS = tuple(kind.setting for kind in COLUMN_KINDS)


class RecordBatch(NamedTuple):
    """Some instances to predict."""

    read: FeaturesAndFamiliarity
    names: list[str | None]  # ids of the records
    texts: list[str] | None  # None where the source has features
    kept: list[tuple[str, ...]]  # cells of further columns


class PredictionInput(NamedTuple):
    """The files of instances to predict, and how they are read."""

    files: list[RecordFile]
    format: str
    reading: Reading | None = None
    first_feature: int = 0  # number of the first feature in files of features
    repeated: str = "keep"  # setting for repeated records

    @property
    def kind(self) -> Format:
        """The format."""
        if self.format == LINES_FORMAT:
            return PLAIN_LINES
        return FORMATS[self.format]


def make_input_file(
    model: Model,
    path: StrPath,
    kept: Sequence[str] = (),
    first_feature: int | None = None,
    **chosen: Any,
) -> PredictionInput:
    """Choose how to read a file, or the files of a pattern or a folder.

    Parameters
    ----------
    model : Model
        The model; files are read with the settings of its data.
    path : path-like
        A file, a pattern, a folder, or :data:`STDIN`.
    kept : sequence of str
        Names of further columns to read.
    first_feature : int, optional
        Number of the first feature in files of features; by default that of the model's data.
    **chosen
        Settings other than those of the model's data.
    """
    matching = [STDIN] if path == STDIN else find_matching_paths(path)
    settings = choose_file_settings(model, matching[0], **chosen)
    require_settings_of_format(settings, chosen | {"first_feature": first_feature}, path)
    paths = matching if path == STDIN else find_record_files(path, settings.format).paths
    if settings.format != LINES_FORMAT and not FORMATS[settings.format].holds_texts:
        if first_feature is None:
            first_feature = model.transform.get("first_feature", 0)
        files = [RecordFile(each) for each in paths]
        return PredictionInput(files, settings.format, first_feature=first_feature)
    reading = make_reading(
        settings.model_copy(update={"id_column": chosen.get("id_column")}),
        labels=[],
        kept_columns=tuple(kept),
        default_ids=_list_default_id_columns(model),
        weighted=weighs_columns(model),
        remedy=_make_columns_remedy(settings),
        streamed=True,
    )
    files = [RecordFile(each, reading.encoding) for each in paths]
    # vectors are never merged
    repeated = "keep" if reading.vectors else settings.repeated
    return PredictionInput(files, settings.format, reading, repeated=repeated)


def _make_columns_remedy(settings: PrepareSource) -> str:
    """Make the remedy for a missing column: the options that name columns."""
    options = ["--text-column"]
    for name in _FEATURE_COLUMN_SETTINGS:
        if getattr(settings, name, None):
            options.append(f"--{name.replace('_', '-')}")
    options.append("--id-column")
    remedy = f"name it with {', '.join(options)} or --keep"
    if "," in settings.text_column:
        # a pipe is read only once, so its header cannot tell which commas are in a name
        remedy = f"{remedy}, names with commas in double quotes"
    return remedy


def choose_file_settings(model: Model, path: StrPath, **chosen: Any) -> PrepareSource:
    """Choose the settings to read a file: those of the model's data, except those chosen."""
    source = model.transform.get("source", {})
    of_data = {name: source[name] for name in ReadTexts.model_fields if name in source}
    options = {name: value for name, value in chosen.items() if value not in (None, (), [])}
    _require_same_number(model, of_data, options)
    weights = model.transform["column_weights"] if weighs_columns(model) else []
    settings: dict[str, Any] = {
        "format": choose_format(model, path),
        "column_weights": weights,
    }
    settings |= of_data
    settings |= options
    if settings["format"] in FORMATS and settings["format"] != source.get("format") and not weights:
        # formats such as MARC have fields that are no columns of the model's data
        settings |= FORMATS[settings["format"]].columns
        settings |= options
    return PrepareSource.model_construct(**settings)


def _require_same_number(model: Model, of_data: dict[str, Any], options: dict[str, Any]) -> None:
    """Raise an InputError unless as many columns of each kind are chosen as the model has."""
    for name in _FEATURE_COLUMN_SETTINGS:
        if not options.get(name):
            continue
        chosen = split_column_names(options[name])
        columns = split_column_names(of_data.get(name) or "")
        if len(chosen) != len(columns):
            message = (
                f"{len(chosen)} {name} ({options[name]}), the model has "
                f"{', '.join(columns) or 'none'}"
            )
            remedy = "name a column for each of these, in their order"
            raise InputError(message, path=model.path, remedy=remedy)


def choose_format(model: Model, path: StrPath) -> str:
    """Choose the format of a file for a model.

    It is that of the model's data if the names end alike, or else that of the name's ending, or
    else lines of text (or features in the format of svmlight).
    """
    takes_text = "token_pattern" in model.transform
    default = LINES_FORMAT if takes_text else "svmlight"
    if path == STDIN:
        return default
    source = model.transform.get("source", {})
    data_format = source.get("format")
    ending = file_ending(path)
    names = source.get("files", {}).get("train", {}).get("name", "").split(", ")
    if data_format in FORMATS:
        for name in names:
            if ending == file_ending(name) or fnmatch(Path(path).name, name):
                return data_format
    if takes_text and Path(path).is_dir():
        guessed = guess_folder_format(Path(path))
        if guessed is None and data_format in FORMATS:
            return data_format
        return guessed or "annif"
    refuse_foreign(path)
    guessed = guess_format(path)
    if guessed == "text-tsv" and data_format in FORMATS and FORMATS[data_format].has_columns:
        # a table with tabs
        return "csv"
    if guessed is not None and not FORMATS[guessed].is_ambiguous:
        return guessed
    return default


def list_label_columns(model: Model) -> list[str]:
    """List the columns of labels in files of the model's data; ``labels`` if they had none."""
    return split_column_names(model.transform.get("source", {}).get("labels_column", "labels"))


def list_id_columns(model: Model) -> tuple[str, ...]:
    """List the columns that may name the records of a file: that of the model's data, and id."""
    column = model.transform.get("source", {}).get("id_column")
    if column is None:
        return ("id",)
    return (column, "id")


def _list_default_id_columns(model: Model) -> tuple[str, ...]:
    """List the columns that may name records and are not columns of labels."""
    label_columns = list_label_columns(model)
    return tuple(name for name in list_id_columns(model) if name not in label_columns)


def get_vocabulary_name(model: Model) -> str | None:
    """Return the name of the subject vocabulary's file, without suffixes; None without one."""
    file = model.transform.get("source", {}).get("files", {}).get("vocabulary")
    if file is None:
        return None
    return file["name"].split(".")[0]


def list_text_columns(model: Model) -> list[str]:
    """List the columns of text in files of the model's data; ``text`` if they had none."""
    return split_column_names(model.transform.get("source", {}).get("text_column", "text"))


def weighs_columns(model: Model) -> bool:
    """Return True if the text columns have weights of their own, so that they are kept apart."""
    return len(model.transform.get("column_weights", ())) > 1


def join_text_columns(model: Model, columns: dict[str, str]) -> str:
    """Join texts by column to the text that a model reads."""
    texts = [columns[name] for name in list_text_columns(model)]
    return join_fields(texts, weighted=weighs_columns(model))


def remark_on_columns(model: Model) -> str:
    """Return a remark for plain texts to a model that reads several columns, or else ``""``."""
    columns = list_text_columns(model)
    remarks = []
    if weighs_columns(model):
        remarks.append(
            f"the model weighs the columns {', '.join(columns)}: all words of a plain text count "
            f"as those of {columns[0]}"
        )
    feature_columns = NamedColumns.from_model(model).feature_names
    if feature_columns:
        remarks.append(
            f"the model also reads {', '.join(feature_columns)}, which a plain text lacks: they "
            "count as missing"
        )
    return "; ".join(remarks)


class NamedColumns(NamedTuple):
    """The columns of records that a model reads."""

    texts: list[str]  # names of the columns of text
    feature_columns: tuple[FeatureColumn, ...] = ()  # columns of numbers and categories

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Return the columns of a model's data."""
        feature_columns = make_feature_columns(model.transform.get("source", {}).get)
        return cls(list_text_columns(model), feature_columns)

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of numbers and categories."""
        return [column.name for column in self.feature_columns]

    @property
    def by_kind(self) -> dict[str, list[str]]:
        """Names of the columns of text, and of those of each kind of numbers and categories."""
        names = {"texts": self.texts}
        for kind in COLUMN_KINDS:
            names[kind.plural] = []
        for column in self.feature_columns:
            names[column.kind.plural].append(column.name)
        return names


def read_record_batches(source: PredictionInput, predictor: Predictor) -> Iterator[RecordBatch]:
    """Read instances as batches, which end where the next line is not there yet."""
    if source.kind.holds_texts:
        return _read_batches_of_texts(source, predictor)
    return _read_batches_of_features(source, predictor)


def _read_batches_of_features(
    source: PredictionInput, predictor: Predictor
) -> Iterator[RecordBatch]:
    n_features = predictor.n_source_features
    for file in source.files:
        for X in source.kind.read_batches(file, n_features, source.first_feature):
            read = FeaturesAndFamiliarity(predictor.transformed(X))
            n = X.n_rows
            yield RecordBatch(read, names=[None] * n, texts=None, kept=[()] * n)


def _read_batches_of_texts(source: PredictionInput, predictor: Predictor) -> Iterator[RecordBatch]:
    has_vectors = source.reading is not None and source.reading.vectors
    for instances in _divide_into_batches(source):
        texts = [instance.text for instance in instances]
        names = [instance.record_id for instance in instances]
        kept = [instance.kept_texts for instance in instances]
        if has_vectors:
            X = transform_vectors(predictor, texts, str(source.files[0].name))
            yield RecordBatch(FeaturesAndFamiliarity(X), names, texts=None, kept=kept)
            continue
        read = predictor.read_texts(texts, [instance.feature_values for instance in instances])
        shown_texts = [text.replace(FIELD_SEPARATOR, " ") for text in texts]
        yield RecordBatch(read, names, shown_texts, kept)


def transform_vectors(predictor: Predictor, vectors: list[np.ndarray], path: str) -> CSR:
    """Transform vectors of a file to features of the model.

    Raises
    ------
    InputError
        If the vectors have another length than those of the model's data.
    """
    X = from_scipy(stack_vectors(vectors, path))
    if X.n_columns != predictor.n_source_features:
        message = (
            f"vectors of {X.n_columns} numbers, those of the model have "
            f"{predictor.n_source_features}"
        )
        raise InputError(message, path=path, remedy="give vectors of the same kind")
    return predictor.transformed(X)


def _divide_into_batches(source: PredictionInput) -> Iterator[list[Any]]:
    """Yield lists of instances, which end where the next one is not there yet."""
    batch = []
    for instance, ready in _read_merged(source):
        batch.append(instance)
        if len(batch) == BATCH_SIZE or not ready:
            yield batch
            batch = []
    if batch:
        yield batch


def _read_merged(source: PredictionInput) -> Iterator[tuple[Any, bool]]:
    """Yield records without repeated ones, and whether the next one is there already."""
    records = _read(source)
    if source.repeated == "keep":
        yield from records
        return
    # the last record may repeat the first, so no batch can end earlier
    for instance in merge_repeated((instance for instance, _ in records), source.repeated):
        yield instance, True


def _read(source: PredictionInput) -> Iterator[tuple[Any, bool]]:
    """Yield records, and whether the next one is there already."""
    for file in source.files:
        for instance in source.kind.read(file, source.reading):
            yield instance, file.ready
