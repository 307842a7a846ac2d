"""Instances to predict, read as the model's data were: files or standard input, in any format, a
few at a time.
"""

from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple, Self

from ovaflow.console.errors import InputError
from ovaflow.dataset.vectors import stack_vectors
from ovaflow.prediction.predictor import FeaturesAndFamiliarity
from ovaflow.reading.columns import split_column_names
from ovaflow.reading.feature_columns import COLUMN_KINDS, FeatureColumn, make_feature_columns
from ovaflow.reading.foreign import refuse_foreign
from ovaflow.reading.formats import FORMATS, PLAIN_LINES, Format, file_ending, guess_format
from ovaflow.reading.instances import FIELD_SEPARATOR, Reading, join_fields, merge_repeated
from ovaflow.reading.streams import RecordFile, find_matching_paths
from ovaflow.records.source import make_reading
from ovaflow.settings.prepare import PrepareSource
from ovaflow.settings.source import ReadTexts
from ovaflow.sparse.csr import from_scipy

STDIN = RecordFile.STDIN
LINES_FORMAT = "lines"
READ_FORMATS = (LINES_FORMAT, *FORMATS)

BATCH_SIZE = 512  # most instances scored together


class RecordBatch(NamedTuple):
    """Some instances: what the source calls each, or None; texts None where it has features."""

    read: FeaturesAndFamiliarity
    names: list
    texts: list | None
    kept: list  # texts of further columns


class InputFile(NamedTuple):
    """Where instances come from, a file or those of a pattern, in which format, and how they are
    read.
    """

    files: list[RecordFile]
    format: str
    reading: Reading | None = None
    first_feature: int = 0
    repeated: str = "keep"

    @property
    def kind(self) -> Format:
        return PLAIN_LINES if self.format == LINES_FORMAT else FORMATS[self.format]


def make_input_file(model, path, kept=(), first_feature=None, **chosen):
    """How to read a file, or those of a pattern, to predict: as the model's data were, except what
    is chosen.
    """
    paths = [STDIN] if path == STDIN else find_matching_paths(path)
    settings = settings_of_file(model, paths[0], **chosen)
    if settings.format != LINES_FORMAT and not FORMATS[settings.format].holds_texts:
        first = model.transform.get("first_feature", 0) if first_feature is None else first_feature
        return InputFile(list(map(RecordFile, paths)), settings.format, first_feature=first)
    # a pipe is read only once, so its header cannot tell which commas are in a name
    quoting = ", names with commas in double quotes" if "," in settings.text_column else ""
    others = "".join(
        f"--{name.replace('_', '-')}, " for name in _BESIDE if getattr(settings, name, None)
    )
    reading = make_reading(
        settings.model_copy(update={"id_column": chosen.get("id_column")}),
        labels=[],
        kept=tuple(kept),
        # a column of labels names no records
        default_ids=tuple(
            name for name in list_id_columns(model) if name not in list_label_columns(model)
        ),
        weighted=weighs_columns(model),
        remedy=f"name it with --text-column, {others}--id-column or --keep{quoting}",
        early=True,
    )
    files = [RecordFile(each, reading.encoding) for each in paths]
    # vectors are never taken together
    return InputFile(
        files, settings.format, reading, repeated="keep" if reading.vectors else settings.repeated
    )


def settings_of_file(model, path, **chosen):
    """Settings to read a file with: those of the model's data, except what is chosen."""
    source = model.transform.get("source", {})
    remembered = {name: source[name] for name in ReadTexts.model_fields if name in source}
    options = {name: value for name, value in chosen.items() if value not in (None, (), [])}
    _require_as_many(model, remembered, options)
    weights = model.transform["column_weights"] if weighs_columns(model) else []
    settings = (
        {"format": choose_format(model, path), "column_weights": weights} | remembered | options
    )
    if settings["format"] in FORMATS and settings["format"] != source.get("format") and not weights:
        # such as MARC's, whose fields are no names of a table
        settings |= FORMATS[settings["format"]].columns | options
    return PrepareSource.model_construct(**settings)


_BESIDE = tuple(kind.setting for kind in COLUMN_KINDS)


def _require_as_many(model, remembered, options) -> None:
    """Refuse other columns of numbers or categories than one for each of the model's."""
    for name in filter(options.get, _BESIDE):
        theirs, ours = (split_column_names(each.get(name) or "") for each in (remembered, options))
        if len(ours) != len(theirs):
            message = (
                f"{len(ours)} {name} ({options[name]}), the model has {', '.join(theirs) or 'none'}"
            )
            raise InputError(
                message, path=model.path, remedy="name a column for each of these, in their order"
            )


def choose_format(model, path):
    """Format of a file for a model: that of its data where the names end alike, else as the name
    says, else lines.
    """
    takes_text = "token_pattern" in model.transform
    if path == STDIN:
        return LINES_FORMAT if takes_text else "svmlight"
    if takes_text and Path(path).is_dir():
        return "annif"
    source = model.transform.get("source", {})
    trained = source.get("format")
    ending = file_ending(path)
    names = source.get("files", {}).get("train", {}).get("name", "").split(", ")
    if trained in FORMATS and any(
        ending == file_ending(name) or fnmatch(Path(path).name, name) for name in names
    ):
        return trained
    refuse_foreign(path)
    named = guess_format(path)
    if named == "text-tsv" and trained in FORMATS and FORMATS[trained].has_columns:
        # a table with tabs
        return "csv"
    if named is not None and not FORMATS[named].is_ambiguous:
        return named
    return LINES_FORMAT if takes_text else "svmlight"


def list_label_columns(model):
    """Columns of the labels in these files; ``labels`` where they had no columns."""
    return split_column_names(model.transform.get("source", {}).get("labels_column", "labels"))


def list_id_columns(model):
    """Columns that may name the records of a file: that of the model's data, or else id."""
    column = model.transform.get("source", {}).get("id_column")
    return ("id",) if column is None else (column, "id")


def get_vocabulary_name(model):
    """Name of the subject vocabulary: that of its file, without suffixes; None without one."""
    file = model.transform.get("source", {}).get("files", {}).get("vocabulary")
    return file and file["name"].split(".")[0]


def list_text_columns(model):
    """Columns of the text in the files that a model was trained on; ``text`` where they had no
    columns.
    """
    return split_column_names(model.transform.get("source", {}).get("text_column", "text"))


def weighs_columns(model):
    """Whether the model's text columns have weights of their own, so that they stay apart."""
    return len(model.transform.get("column_weights", ())) > 1


def join_text_columns(model, columns):
    """The text that a model reads, of its columns by name."""
    return join_fields([columns[name] for name in list_text_columns(model)], weighs_columns(model))


def remark_on_columns(model):
    """What to know before a plain text is given to a model that weighs columns apart; empty for
    other models.
    """
    columns = list_text_columns(model)
    remarks = []
    if weighs_columns(model):
        counted = f"all words of a plain text count as those of {columns[0]}"
        remarks.append(f"the model weighs the columns {', '.join(columns)}: {counted}")
    if beside := NamedColumns.of(model).beside:
        remarks.append(
            f"the model also reads {', '.join(beside)}, which a plain text lacks: they count as missing"
        )
    return "; ".join(remarks)


class NamedColumns(NamedTuple):
    """Columns of the records that a model reads."""

    texts: list[str]
    columns_beside: tuple[FeatureColumn, ...] = ()

    @classmethod
    def of(cls, model) -> Self:
        return cls(
            list_text_columns(model), make_feature_columns(model.transform.get("source", {}).get)
        )

    @property
    def beside(self) -> list[str]:
        """Names of the columns beside the text."""
        return [column.name for column in self.columns_beside]

    @property
    def by_kind(self) -> dict[str, list[str]]:
        """Names of the columns: those of texts, and those of each kind beside the text."""
        names: dict[str, list[str]] = {"texts": self.texts} | {
            kind.plural: [] for kind in COLUMN_KINDS
        }
        for column in self.columns_beside:
            names[column.kind.plural].append(column.name)
        return names


def read_record_batches(source, predictor):
    """Read instances as batches, which end where the next line would have to be waited for."""
    if not source.kind.holds_texts:
        for file in source.files:
            for X in source.kind.read_batches(
                file, predictor.n_source_features, source.first_feature
            ):
                read = FeaturesAndFamiliarity(predictor.transformed(X))
                yield RecordBatch(read, [None] * X.n_rows, None, [()] * X.n_rows)
        return
    for instances in _batched(source):
        texts = [instance.text for instance in instances]
        names = [instance.record for instance in instances]
        kept = [instance.kept for instance in instances]
        if source.reading.vectors:
            read = FeaturesAndFamiliarity(transform_vectors(predictor, texts, source.files[0].name))
            yield RecordBatch(read, names, None, kept)
            continue
        read = predictor.read_texts(texts, [instance.beside for instance in instances])
        yield RecordBatch(read, names, [text.replace(FIELD_SEPARATOR, " ") for text in texts], kept)


def transform_vectors(predictor, vectors, path):
    """Features as the model's dataset has them."""
    X = from_scipy(stack_vectors(vectors, path))
    if X.n_columns != predictor.n_source_features:
        message = f"vectors of {X.n_columns} numbers, those of the model have {predictor.n_source_features}"
        raise InputError(message, path=path, remedy="give vectors of the same kind")
    return predictor.transformed(X)


def _batched(source):
    records = _read(source)
    batch = []
    if source.repeated != "keep":
        # the last one may be the same as the first
        records = (
            (each, True) for each in merge_repeated((each for each, _ in records), source.repeated)
        )
    for instance, ready in records:
        batch.append(instance)
        if len(batch) == BATCH_SIZE or not ready:
            yield batch
            batch = []
    if batch:
        yield batch


def _read(source):
    """Records, and whether the next can be had without waiting for it."""
    for file in source.files:
        for instance in source.kind.read(file, source.reading):
            yield instance, file.ready
