"""Settings of where a dataset comes from, and how its files are read."""

import codecs
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from ovaflow.reading.columns import join_column_names
from ovaflow.reading.feature_columns import COLUMN_KINDS
from ovaflow.reading.foreign import find_conversion
from ovaflow.reading.formats import FORMATS
from ovaflow.reading.formats import Format as FileFormat
from ovaflow.settings.section import (
    AboveZero,
    LabelList,
    Name,
    Scope,
    Section,
    Text,
    as_list,
    convert_whole_number,
    setting,
)

FILE_ROLES = (
    "train",
    "test",
    "dev",
    "extra",
    "labels",
    "vocabulary",
    "train_labels",
    "test_labels",
)
_ROLES_WITH_SEVERAL_FILES = ("train", "test", "dev", "extra")


def is_address(location: str) -> bool:
    """Whether a file must be downloaded."""
    return location.startswith(("http://", "https://"))


def is_in_storage(location: str) -> bool:
    """Whether a file is in storage that Snakemake reads."""
    return location.startswith("s3://")


def holds_texts(format: str | None) -> bool:
    """Whether files of a format hold texts, rather than features."""
    return format in FORMATS and FORMATS[format].holds_texts


def accepts_several_files(role: str, format: str | None) -> bool:
    """Whether a file may be a pattern, or a list, of several; of Annif's also a folder."""
    return role in _ROLES_WITH_SEVERAL_FILES and holds_texts(format)


def make_format_scope(fit: Callable[[FileFormat], bool]) -> Scope:
    """Where the format of a section's files is one of those that fit."""
    words = ", ".join(name for name, each in FORMATS.items() if fit(each))
    return Scope(words, lambda section: section.format in FORMATS and fit(FORMATS[section.format]))


FOR_TEXTS = Scope("texts", lambda section: holds_texts(section.format))
FOR_COLUMNS = make_format_scope(lambda kind: kind.has_columns)


def make_setting_scope(name: str) -> Scope:
    """Formats that read a setting which not all files of texts have."""
    return make_format_scope(lambda kind: name in kind.settings)


def _known_format(name: str) -> str:
    if conversion := find_conversion(name):
        raise ValueError(f"{name} is not read; {conversion}")
    if name not in FORMATS:
        raise PydanticCustomError("literal_error", "unknown format")
    return name


def _known_encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        message = f"no encoding {name!r}; there are utf-8, windows-1252, latin-1, utf-16, gb18030, shift_jis and others"
        raise ValueError(message) from None
    return name


def _plain_location(location: str) -> str:
    # ${NAME} in an address stands for an environment variable
    plain = (
        re.sub(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}", "", location) if is_address(location) else location
    )
    if any(character in "{}" or not character.isprintable() for character in plain):
        raise ValueError(
            "braces and control characters in a path are not supported; rename the file"
        )
    is_remote = is_address(location) or is_in_storage(location)
    if "://" in location and not (is_remote and urlsplit(location).netloc):
        raise ValueError(
            "expected a path, or an address that begins with http://, https:// or s3://"
        )
    return location


Location = Annotated[Text, AfterValidator(_plain_location)]
Locations = Location | Annotated[list[Location], Field(min_length=1)]


def _joined(names: Any) -> Any:
    texts = list(map(convert_whole_number, as_list(names)))
    if not all(isinstance(each, str) for each in texts):
        return names
    return join_column_names(texts) if isinstance(names, list) else texts[0]


ColumnNames = Annotated[
    Text,
    BeforeValidator(_joined),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "items": {"type": "string"}},
            ]
        }
    ),
]
Format = Annotated[
    str, AfterValidator(_known_format), WithJsonSchema({"type": "string", "enum": list(FORMATS)})
]
Encoding = Annotated[str, AfterValidator(_known_encoding)]


class Source(Section):
    """Where a dataset comes from."""

    source: Literal["builtin", "catalogue"] | None = setting(
        None,
        "builtin: docstrings of this machine's packages; catalogue: a public dataset of config/datasets.yaml",
    )
    name: Name | None = setting(None, "name in the catalogue, if it differs from this entry's")
    format: Format | None = setting(
        None, "format of your own files; .gz, .bz2, .xz and .zst are read as they are"
    )
    train: Locations | None = setting(
        None,
        "training file: path, http(s) or s3 address; for texts also a pattern such as exports/*.csv or a list of paths",
    )
    test: Locations | None = setting(
        None, "test file, as train; without one, part of the training file is set aside"
    )
    dev: Locations | None = setting(
        None,
        "validation file, as test: never trained on, and measured apart from the test set, so that settings "
        "are chosen on it",
        where=FOR_TEXTS,
    )
    extra: dict[Location, AboveZero] | None = setting(
        None,
        "further training files and what each of their records weighs beside one of train, such as "
        "corrections.jsonl: 2; never held out or tested on",
        where=FOR_TEXTS,
        min_length=1,
    )
    labels: Location | None = setting(None, "label names, one per line in order of their ids")
    vocabulary: Location | None = setting(
        None,
        "subject vocabulary, whose URIs or names are the labels of texts: SKOS (.ttl, .rdf), or Annif's .tsv or .csv",
    )
    train_labels: Location | None = setting(None, "npz: labels of the training file")
    test_labels: Location | None = setting(None, "npz: labels of the test file")

    @property
    def has_test(self) -> bool:
        return self.test is not None

    @property
    def extra_weight(self) -> list[float]:
        return list((self.extra or {}).values())

    @property
    def has_texts(self) -> bool:
        return self.source == "builtin" or (
            holds_texts(self.format) and getattr(self, "vector_column", None) is None
        )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.source is None and (self.format is None or self.train is None):
            raise ValueError("needs either source (builtin or catalogue) or both format and train")
        excluded = [key for key in ("format", *FILE_ROLES) if getattr(self, key) is not None]
        if self.source is not None and excluded:
            raise ValueError(f"source: {self.source} excludes {', '.join(excluded)}")
        if self.vocabulary is not None and (
            self.labels is not None or not (self.format is None or holds_texts(self.format))
        ):
            raise ValueError("vocabulary goes with texts, and excludes labels")
        if self.extra and (not holds_texts(self.format) or any(map(is_address, self.extra))):
            raise ValueError("extra goes with texts, and has paths rather than addresses")
        if self.dev and not holds_texts(self.format):
            raise ValueError("dev goes with texts")
        for role in ("train", "test", "dev"):
            paths = getattr(self, role)
            if isinstance(paths, list) and (
                not holds_texts(self.format) or any(map(is_address, paths))
            ):
                raise ValueError(
                    f"{role}: a list is only for texts, and of paths rather than addresses"
                )
            has_labels = getattr(self, f"{role}_labels", None) is not None
            if has_labels != (self.format == "npz" and paths is not None):
                raise ValueError(f"{role}_labels goes with format: npz and {role}, which needs it")
        return self


class _ReadColumns(Section):
    text_column: ColumnNames = setting(
        "text",
        "column of the text, or several: title,abstract; a name with commas is in double quotes",
        where=FOR_COLUMNS,
    )
    vector_column: Text | None = setting(
        None,
        "column of vectors, lists of numbers, which are the features instead of texts",
        where=FOR_COLUMNS,
    )
    labels_column: ColumnNames = setting(
        "labels",
        "column of the labels, or several, which may be truth values: sports,politics",
        where=FOR_COLUMNS,
    )
    id_column: Text | None = setting(
        None,
        "column of record ids, which the report shows",
        where=FOR_COLUMNS,
        null="id, if that column exists",
    )


_FIELDS: dict[str, Any] = {
    kind.setting: (ColumnNames | None, setting(None, kind.sentence, where=FOR_COLUMNS))
    for kind in COLUMN_KINDS
}
_Beside: Any = create_model("_Beside", __base__=_ReadColumns, **_FIELDS)


class ReadTexts(_Beside):
    """How files of texts and labels are read; a model remembers it."""

    label_separator: Text = setting(
        ",",
        "separator between labels; none: the whole cell is a label (lists need no separator)",
        where=make_format_scope(lambda kind: kind.has_separator),
    )
    label_key: Text | None = setting(
        None,
        "key of the name in labels that are objects",
        where=FOR_TEXTS,
        null="the only key that can be meant",
    )
    labels_are: Literal["auto", "names", "one-hot"] = setting(
        "auto",
        "names, or one-hot: columns, keys or places of a list that say yes or no (1/0, true/false, x/empty); "
        "auto: one-hot where several columns or long lists hold nothing else",
        where=FOR_TEXTS,
    )
    first_label: int = setting(0, "id of the first line of the file of label names", ge=0, le=1)
    missing: Literal["auto"] | LabelList = setting(
        "auto",
        "what a whole cell or label is where there is none; auto: nan, None, NULL, N/A, NaT and -",
        where=FOR_TEXTS,
    )
    encoding: Encoding = setting(
        "utf-8",
        "encoding, such as windows-1252; UTF-16 is known by its mark",
        where=make_setting_scope("encoding"),
    )
    quotes: Literal["auto", "double", "backslash", "none"] = setting(
        "auto",
        'double: "" is a quote inside quotes; backslash: \\" is; none: quotes mean nothing; auto: double, unless '
        "they swallow records",
        where=make_setting_scope("quotes"),
    )
    sheet: Text | None = setting(
        None, "name of the sheet", where=make_setting_scope("sheet"), null="the first"
    )
    html: bool = setting(False, "remove HTML tags and decode HTML entities", where=FOR_TEXTS)
    repeated: Literal["keep", "last", "join"] = setting(
        "keep",
        "records with the same id; last: only the last counts, as a correction; join: they are one record with the "
        "labels of all (without ids, records with the same text)",
        where=FOR_TEXTS,
    )
