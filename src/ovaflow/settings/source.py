"""Settings of the source of a dataset, and of reading its files."""

import codecs
import re
from collections.abc import Callable, Iterable
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
"""Roles of the files of a dataset."""
_ROLES_WITH_SEVERAL_FILES = ("train", "test", "dev", "extra")


def is_address(location: str) -> bool:
    """Return whether a file must be downloaded."""
    return location.startswith(("http://", "https://"))


def is_in_storage(location: str) -> bool:
    """Return whether a file is in storage that Snakemake reads."""
    return location.startswith("s3://")


def holds_texts(format: str | None) -> bool:
    """Return whether files of a format hold texts, rather than features."""
    return format in FORMATS and FORMATS[format].holds_texts


def accepts_several_files(role: str, format: str | None) -> bool:
    """Return whether the files of a role may be several, by a pattern or a list."""
    return role in _ROLES_WITH_SEVERAL_FILES and holds_texts(format)


def make_format_scope(fit: Callable[[FileFormat], bool]) -> Scope:
    """Make the scope of sections whose files have one of the formats that fit."""
    names = [name for name, each in FORMATS.items() if fit(each)]
    return Scope(", ".join(names), lambda section: section.format in names)


FOR_TEXTS = Scope("texts", lambda section: holds_texts(section.format))
FOR_COLUMNS = make_format_scope(lambda kind: kind.has_columns)
FOR_CELLS = make_format_scope(lambda kind: kind.has_separator)
"""Formats that have the labels of a record in cells, which are divided, or hold lists."""


def make_setting_scope(name: str) -> Scope:
    """Make the scope of formats that read a setting which not all files of texts have."""
    return make_format_scope(lambda kind: name in kind.settings)


def _require_known_format(name: str) -> str:
    conversion = find_conversion(name)
    if conversion:
        raise ValueError(f"{name} is not read; {conversion}")
    if name not in FORMATS:
        raise PydanticCustomError("literal_error", "unknown format")
    return name


def _require_known_encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        raise ValueError(
            f"no encoding {name!r}; there are utf-8, windows-1252, latin-1, utf-16, gb18030, "
            "shift_jis and others"
        ) from None
    return name


def _require_plain_location(location: str) -> str:
    plain = location
    if is_address(location):
        # ${NAME} in an address is an environment variable
        plain = re.sub(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}", "", location)
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


Location = Annotated[Text, AfterValidator(_require_plain_location)]
Locations = Location | Annotated[list[Location], Field(min_length=1)]


def _join_names(names: Any) -> Any:
    """Join a list of column names to one text; leave other values to the next validator."""
    texts = [convert_whole_number(name) for name in as_list(names)]
    if not all(isinstance(text, str) for text in texts):
        return names
    if isinstance(names, list):
        return join_column_names(texts)
    return texts[0]


ColumnNames = Annotated[
    Text,
    BeforeValidator(_join_names),
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
    str,
    AfterValidator(_require_known_format),
    WithJsonSchema({"type": "string", "enum": list(FORMATS)}),
]
Encoding = Annotated[str, AfterValidator(_require_known_encoding)]


class Source(Section):
    """Files of a dataset, or another source."""

    source: Literal["builtin", "catalogue"] | None = setting(
        None,
        "builtin: docstrings of this machine's packages; catalogue: a public dataset of "
        "config/datasets.yaml",
    )
    name: Name | None = setting(None, "name in the catalogue, if it differs from this entry's")
    format: Format | None = setting(
        None, "format of your own files; .gz, .bz2, .xz and .zst are read as they are"
    )
    train: Locations | None = setting(
        None,
        "training file: path, http(s) or s3 address; for texts also a folder, a pattern such as "
        "exports/*.csv or a list of paths",
    )
    test: Locations | None = setting(
        None, "test file, as train; without one, part of the training file is set aside"
    )
    dev: Locations | None = setting(
        None,
        "validation file, as test: never trained on, and measured apart from the test set, so that "
        "settings are chosen on it",
        where=FOR_TEXTS,
    )
    extra: dict[Location, AboveZero] | None = setting(
        None,
        "further training files and the weight of each of their records, where one of train weighs "
        "1, such as corrections.jsonl: 2; never held out or tested on",
        where=FOR_TEXTS,
        min_length=1,
    )
    labels: Location | None = setting(None, "label names, one per line in order of their ids")
    vocabulary: Location | None = setting(
        None,
        "subject vocabulary, whose URIs or names are the labels of texts: SKOS (.ttl, .rdf), or "
        "Annif's .tsv or .csv",
    )
    train_labels: Location | None = setting(None, "npz: labels of the training file")
    test_labels: Location | None = setting(None, "npz: labels of the test file")

    @property
    def has_test(self) -> bool:
        """True if there is a test file."""
        return self.test is not None

    @property
    def extra_weight(self) -> list[float]:
        """Weights of the extra files, in their order."""
        return list((self.extra or {}).values())

    @property
    def has_texts(self) -> bool:
        """True if records are texts rather than features."""
        has_vectors = getattr(self, "vector_column", None) is not None
        return self.source == "builtin" or (holds_texts(self.format) and not has_vectors)

    @model_validator(mode="after")
    def _require_one_source(self) -> Self:
        if self.source is None and (self.format is None or self.train is None):
            raise ValueError("needs either source (builtin or catalogue) or both format and train")
        excluded = [key for key in ("format", *FILE_ROLES) if getattr(self, key) is not None]
        if self.source is not None and excluded:
            raise ValueError(f"source: {self.source} excludes {', '.join(excluded)}")
        return self

    @model_validator(mode="after")
    def _require_files_of_format(self) -> Self:
        has_text_files = holds_texts(self.format)
        is_other_format = self.format is not None and not has_text_files
        if self.vocabulary is not None and (self.labels is not None or is_other_format):
            raise ValueError("vocabulary goes with texts, and excludes labels")
        if self.extra and not (has_text_files and _are_paths(self.extra)):
            raise ValueError("extra goes with texts, and has paths rather than addresses")
        if self.dev and not has_text_files:
            raise ValueError("dev goes with texts")
        for role in ("train", "test", "dev"):
            paths = getattr(self, role)
            if isinstance(paths, list) and not (has_text_files and _are_paths(paths)):
                raise ValueError(
                    f"{role}: a list is only for texts, and of paths rather than addresses"
                )
            has_labels = getattr(self, f"{role}_labels", None) is not None
            if has_labels != (self.format == "npz" and paths is not None):
                raise ValueError(f"{role}_labels goes with format: npz and {role}, which needs it")
        return self


def _are_paths(locations: Iterable[str]) -> bool:
    return not any(is_address(location) for location in locations)


class _ReadColumns(Section):
    text_column: ColumnNames = setting(
        "text",
        "column of the text, or several: title,abstract; a name with commas is in double quotes",
        where=FOR_COLUMNS,
    )
    vector_column: Text | None = setting(
        None,
        "column of vectors, lists of numbers, which are the features instead of texts",
        where=make_format_scope(lambda kind: kind.holds_vectors),
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


_FIELDS_OF_COLUMN_KINDS: dict[str, Any] = {
    kind.setting: (ColumnNames | None, setting(None, kind.sentence, where=FOR_COLUMNS))
    for kind in COLUMN_KINDS
}
_WithFeatureColumns: Any = create_model(
    "_WithFeatureColumns", __base__=_ReadColumns, **_FIELDS_OF_COLUMN_KINDS
)


class ReadTexts(_WithFeatureColumns):
    """Settings of reading files of texts and labels, which a model remembers."""

    label_separator: Text = setting(
        "auto",
        "separator between labels; none: the whole cell is a label (lists need no separator); "
        "auto: a comma, or none where labels of lists contain commas",
        where=FOR_CELLS,
    )
    label_enclosure: Literal["auto", "none", "brackets", "quotes"] = setting(
        "auto",
        "what encloses the labels of a cell and is no part of names: brackets, [Bees, Food], or "
        'quotes, "Bees", "Food"; auto: what encloses most of the first cells',
        where=FOR_CELLS,
    )
    label_key: Text | None = setting(
        None,
        "key of the name in labels that are objects; its place, from 0, in lists with numbers",
        where=FOR_CELLS,
        null="the only key that can be meant",
    )
    label_threshold: float | None = setting(
        None,
        "least value of a label that is meant, where labels have values, such as scores",
        where=FOR_CELLS,
        null="1 and true are meant, 0 and false are not; other values are refused",
    )
    labels_are: Literal["auto", "names", "one-hot"] = setting(
        "auto",
        "names, or one-hot: columns, keys or places of a list that say yes or no (1/0, true/false, "
        "x/empty); auto: one-hot where several columns or long lists hold nothing else",
        where=FOR_CELLS,
    )
    not_judged: Literal["negative", "leave-out"] = setting(
        "negative",
        "empty columns or places of labels where others say 1 or 0: negative takes them as 0, "
        "leave-out leaves out their records, in training and test",
        where=FOR_CELLS,
    )
    first_label: int = setting(0, "id of the first line of the file of label names", ge=0, le=1)
    missing: Literal["auto"] | LabelList = setting(
        "auto",
        "words that mean a missing value if they are a whole cell or label; "
        "auto: nan, None, NULL, N/A, NaT and -",
        where=FOR_TEXTS,
    )
    encoding: Encoding = setting(
        "utf-8",
        "encoding, such as windows-1252; UTF-16 is recognized by its mark",
        where=make_setting_scope("encoding"),
    )
    quotes: Literal["auto", "double", "backslash", "none"] = setting(
        "auto",
        'double: "" is a quote inside quotes; backslash: \\" is; none: quotes mean nothing; '
        "auto: double, unless they swallow records",
        where=make_setting_scope("quotes"),
    )
    sheet: Text | Annotated[list[Text], Field(min_length=1)] | None = setting(
        None,
        "name of the sheet, or a list of names; all: those that have the columns",
        where=make_setting_scope("sheet"),
        null="the first that has the columns",
    )
    html: bool = setting(False, "remove HTML tags and decode HTML entities", where=FOR_TEXTS)
    repeated: Literal["keep", "last", "join"] = setting(
        "keep",
        "records with the same id; last: only the last counts, as a correction; join: they are one "
        "record with the labels of all (without ids, records with the same text)",
        where=FOR_TEXTS,
    )
