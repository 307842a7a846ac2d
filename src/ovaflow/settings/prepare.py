"""Settings of making a dataset from files, and of choosing its features."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.columns import split_column_names
from ovaflow.reading.feature_columns import COLUMN_KINDS
from ovaflow.reading.formats import FORMATS, LINES_FORMAT, PLAIN_LINES
from ovaflow.settings.section import (
    AboveZero,
    Frequency,
    LabelList,
    OneWordValidator,
    Positive,
    Scope,
    Section,
    Text,
    as_list,
    setting,
    setting_info,
)
from ovaflow.settings.source import FOR_COLUMNS, FOR_TEXTS, Format, ReadTexts, holds_texts
from ovaflow.settings.spelling import parse_value


def is_language(stop_words: str) -> bool:
    """Return whether stop words are those of a language rather than of a file."""
    return re.fullmatch("[a-z]+", stop_words) is not None


def is_label_file(entry: str) -> bool:
    """Return whether an entry of ``include`` or ``exclude`` is a file of names."""
    return entry.endswith(".txt")


_BLOCK_ARGUMENTS = {
    "words": ("", "", "nothing"),
    "pairs": ("", "", "nothing"),
    "names": ("(vocabulary)?", "", "nothing, or vocabulary"),
    "prefixes": (r"[1-9]\d?", "6", "a number of letters below 100"),
    "stems": (
        r"[a-z_]+(,[a-z_]+)*",
        "",
        'a language, such as finnish or "no" in quotes, or a list of languages',
    ),
    "characters": (
        "|".join(f"{least}-[{least}-9]" for least in range(1, 10)),
        "4-5",
        "the least and the most letters, each below 10, such as [4, 5]",
    ),
}
"""Argument of each block of features: a pattern, the default, and a description of both."""


def _spell_block(written: Any) -> str:
    """Spell a block of features in one word, such as ``prefixes=6`` for ``{prefixes: 6}``."""
    block = parse_value(written)
    if isinstance(block, dict) and len(block) == 1:
        name, argument = next(iter(block.items()))
    else:
        name, _, argument = str(block).partition("=")
    if name not in _BLOCK_ARGUMENTS:
        raise ValueError(
            f"{written} is not a block of features: give words, pairs, names, prefixes or "
            "{prefixes: 6}, {stems: finnish} (or a list of languages), characters or "
            "{characters: [4, 5]}"
        )
    pattern, default, expected = _BLOCK_ARGUMENTS[name]
    if argument is None or argument == "":
        argument = default
    text = str(argument)
    if isinstance(argument, list):
        separator = "-" if name == "characters" else ","
        text = separator.join([str(each) for each in argument])
    if not re.fullmatch(pattern, text):
        found = json.dumps(argument, default=str)
        if argument == "":
            found = "nothing"
        raise ValueError(f"{name}: found {found}, expected {expected}")
    return f"{name}={text}" if text else name


Block = Annotated[
    str,
    OneWordValidator(_spell_block),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["words", "pairs", "names", "prefixes", "characters"]},
                {"type": "object"},
                {"type": "string", "pattern": "[:=]"},
            ]
        }
    ),
]
_NAMES_IN_VOCABULARY = "names=vocabulary"
"""The block of names in a vocabulary, which is dropped where labels have none."""
DEFAULT_FEATURES = ["words", "prefixes=6", _NAMES_IN_VOCABULARY]


def resolve_blocks(features: list[str], *, has_vocabulary: bool) -> list[str]:
    """Replace names in a vocabulary by names of labels, or drop them without a vocabulary.

    Each block is returned once.
    """
    blocks = []
    for feature in features:
        block = feature
        if feature == _NAMES_IN_VOCABULARY:
            if not has_vocabulary:
                continue
            block = "names"
        if block not in blocks:
            blocks.append(block)
    return blocks


def _spell_candidate(written: Any) -> str:
    """Spell several blocks in one word, such as ``words+prefixes=6``."""
    blocks = parse_value(written)
    if isinstance(blocks, str):
        blocks = blocks.split("+")
    blocks = as_list(blocks)
    return "+".join([_spell_block(block) for block in blocks])


Candidate = Annotated[
    str,
    OneWordValidator(_spell_candidate),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]}),
]

_FOR_TEXT_FEATURES = Scope("texts", lambda section: section.has_texts)
_FOR_COUNTS = Scope(
    "texts, and with tfidf", lambda section: section.has_texts or section.uses_tfidf
)
_FEATURE_COLUMN_SETTINGS = tuple(kind.setting for kind in COLUMN_KINDS)
_WITH_FEATURE_COLUMNS = Scope(
    ", ".join(_FEATURE_COLUMN_SETTINGS), lambda section: section.has_columns_beside_text
)


class Prepare(ReadTexts):
    """From raw files to dataset.h5."""

    features: (
        Literal["auto"] | Annotated[list[Block], BeforeValidator(as_list), Field(min_length=1)]
    ) = setting(
        DEFAULT_FEATURES,
        "features, side by side: words, pairs of neighbouring words, {prefixes: 6} (of longer "
        "words), {stems: finnish}, {characters: [4, 5]} (inside words), names of labels, "
        "{names: vocabulary} (where labels have a vocabulary or a file of names); also in one "
        "word, such as characters=4-5; auto: the best on held-out training instances",
        where=_FOR_TEXT_FEATURES,
    )
    words: Literal["plain", "symbols"] = setting(
        "plain",
        "plain: at least two letters, digits or underscores, no numbers; symbols: also single "
        "letters and numbers, with the signs of C++, C# and .NET",
        where=_FOR_TEXT_FEATURES,
    )
    stop_words: Text | None = setting(
        None,
        "words left out: a language, such as german, or the path of a file with one per line",
        where=_FOR_TEXT_FEATURES,
    )
    column_weights: Annotated[list[AboveZero], BeforeValidator(as_list)] = setting(
        [], "weight of a word in each text column; []: all columns are one text", where=FOR_COLUMNS
    )
    weight_beside_text: AboveZero = setting(
        0.2,
        "weight of a number or category; the features of the text together have length 1",
        where=_WITH_FEATURE_COLUMNS,
    )
    label_names: bool = setting(
        True,
        "also train on the name of each label, as one more text with that label",
        where=_FOR_TEXT_FEATURES,
    )
    language: Text | None = setting(
        None,
        "language of the labels' names in a subject vocabulary",
        where=_FOR_TEXT_FEATURES,
        null="its only one",
    )
    tfidf: Literal["auto"] | bool = setting(
        "auto", "weight features by tf-idf; auto: for texts, not for ready-made features"
    )
    min_df: Frequency = setting(
        2,
        "drop terms that occur in fewer training texts; a number of texts or, with a decimal "
        "point, a share",
        where=_FOR_TEXT_FEATURES,
    )
    max_df: Frequency = setting(
        0.5,
        "drop terms that occur in more training texts; a number of texts or, with a decimal "
        "point, a share",
        where=_FOR_TEXT_FEATURES,
    )
    max_features: Positive | None = setting(
        None, "keep only the most frequent terms", where=_FOR_TEXT_FEATURES, null="all"
    )
    sublinear: bool = setting(
        True, "use ln(1 + count) instead of a term's count in a text", where=_FOR_COUNTS
    )
    normalize: bool = setting(True, "scale each instance to length 1")
    bias: float = setting(1.0, "value of the bias feature appended to each instance; 0: none", ge=0)
    test_fraction: float = setting(
        0.2, "share of instances set aside for testing if there is no test file", gt=0, lt=1
    )
    seed: int = setting(0, "seed of the split if there is no test file", ge=0)
    split: Literal["together", "random", "stratified", "last"] = setting(
        "together",
        "instances set aside: together, drawn so that copies, near twins and groups are never "
        "parted; random, each by itself, for texts that recur; stratified, as together, but rare "
        "labels are on both sides; last: the last ones",
    )
    split_column: Text | None = setting(
        None,
        "column that says train, test or dev, the validation part; for split: last a column of "
        "numbers or ISO dates, null: order in the file",
        where=FOR_COLUMNS,
    )
    group_column: Text | None = setting(
        None,
        "column, such as series; records with the same value are never parted, except by "
        "split: last and split_column",
        where=FOR_COLUMNS,
    )
    weight_column: Text | None = setting(
        None,
        "column of numbers above 0, the weights of training records",
        where=FOR_COLUMNS,
        null="all weigh 1",
    )
    label_map: Text | None = setting(
        None,
        "file of two columns, old and new label name, an empty new name drops the label; or a "
        "filled in unknown_subjects.csv",
        where=FOR_TEXTS,
    )
    include: LabelList = setting(
        [],
        "the only labels: names, URIs, patterns such as http://example.org/places/*, schemes and "
        "collections of the vocabulary, or a .txt file with one of these per line; []: all",
    )
    exclude: LabelList = setting([], "labels to leave out, also of those included; as include")
    hierarchy: Text | None = setting(
        None,
        "separator of levels in labels' names, such as ' > ', or broader for the relations of a "
        "vocabulary: records also have the labels above theirs",
        where=FOR_TEXTS,
    )
    unlabelled: Literal["keep", "drop"] = setting(
        "keep",
        "instances without labels: keep, as negatives of all labels, or drop, in training and test",
    )

    @property
    def files(self) -> dict[str, str]:
        """Files of stop words, labels to rename, and labels to include or exclude, by setting."""
        files = {}
        if self.stop_words and not is_language(self.stop_words):
            files["stop_words"] = self.stop_words
        if self.label_map:
            files["label_map"] = self.label_map
        for name, entries in (("include", self.include), ("exclude", self.exclude)):
            if _has_label_file(entries):
                files[name] = entries[0]
        return files

    @property
    def split_conflict(self) -> str:
        """Complaint if both split and split_column choose the test instances; else empty."""
        if self.split_column and self.split in ("random", "stratified"):
            return (
                f"split_column ({self.split_column}) divides the records itself; "
                f"leave out split: {self.split}"
            )
        return ""

    @model_validator(mode="after")
    def _require_one_list_of_labels(self) -> Self:
        for name in ("include", "exclude"):
            entries = getattr(self, name)
            if len(entries) > 1 and _has_label_file(entries):
                raise ValueError(f"{name}: give one .txt file or a list of names, not both")
        return self

    @model_validator(mode="after")
    def _require_a_weight_per_column(self) -> Self:
        columns = len(split_column_names(self.text_column))
        if self.column_weights and len(self.column_weights) != columns:
            n = len(self.column_weights)
            raise ValueError(f"{n} column_weights for {columns} text columns ({self.text_column})")
        return self


def _has_label_file(entries: list[str]) -> bool:
    return any(is_label_file(entry) for entry in entries)


_SPLIT_SETTINGS = ("test_fraction", "seed", "split", "split_column")
"""Settings without effect if there is a test file."""


class ExtraFiles(Section):
    """Settings of further training files."""

    extra_weight: Annotated[list[AboveZero], BeforeValidator(as_list)] = setting(
        [], "weight of the records of each extra file, in their order"
    )


class PrepareSource(Prepare, ExtraFiles):
    """Settings of ``ovaflow prepare``."""

    format: Annotated[
        Literal["builtin"] | Format, BeforeValidator(lambda name: name or "builtin")
    ] = setting(..., "builtin needs no files")
    has_test: bool = setting(False, "whether there is a test file")

    @model_validator(mode="before")
    @classmethod
    def _fill_columns_of_format(cls, values: Any) -> Any:
        """Fill in the columns that a format has by itself, where none is chosen."""
        if not isinstance(values, dict):
            return values
        kind = FORMATS.get(str(values.get("format")))
        if kind is None:
            return values
        for name, column in kind.columns.items():
            if values.get(name) in (None, cls.model_fields[name].default):
                values = values | {name: column}
        return values

    @property
    def has_texts(self) -> bool:
        """True if records are texts rather than features."""
        return self.format == "builtin" or (holds_texts(self.format) and self.vector_column is None)

    @property
    def uses_tfidf(self) -> bool:
        """True if features are weighted by tf-idf."""
        if self.tfidf == "auto":
            return self.has_texts
        return self.tfidf

    @property
    def relevant(self) -> dict[str, Any]:
        """Settings that the dataset depends on, given the others."""
        unused = self.irrelevant_settings | {"has_test"}
        unused.update(name for name in _FEATURE_COLUMN_SETTINGS if getattr(self, name) is None)
        if self.words == "plain":
            # not recorded, so that results from before this setting are those of today
            unused.add("words")
        if self.has_test:
            unused.update(_SPLIT_SETTINGS)
            if self.split == "random":
                # later steps hold out instances in the same way
                unused.discard("split")
        elif self.format == "builtin":
            unused.add("split")
        elif self.split == "last":
            unused.add("seed")
        elif self.split_column and FOR_COLUMNS.holds(self):
            unused.update(("test_fraction", "seed", "split"))
        return self._exclude(*unused) | {"tfidf": self.uses_tfidf}

    @property
    def has_columns_beside_text(self) -> bool:
        """True if columns of numbers or categories are features."""
        return any(getattr(self, name) for name in _FEATURE_COLUMN_SETTINGS)

    @model_validator(mode="after")
    def _require_texts_with_feature_columns(self) -> Self:
        if self.has_columns_beside_text and (self.vector_column or not FOR_COLUMNS.holds(self)):
            names = ", ".join(name for name in _FEATURE_COLUMN_SETTINGS if getattr(self, name))
            instead = f"format: {self.format}"
            if self.vector_column:
                instead = "vector_column"
            raise ValueError(
                f"{names}: next to texts in columns ({FOR_COLUMNS.words}), not with {instead}"
            )
        return self

    @model_validator(mode="after")
    def _require_one_way_to_split(self) -> Self:
        if self.split_conflict:
            raise ValueError(self.split_conflict)
        columns = [name for name in ("split_column", "group_column") if getattr(self, name)]
        if self.vector_column and columns:
            raise ValueError(
                f"{', '.join(columns)}: records of a vector_column are divided one by one; "
                "give a test file"
            )
        return self


def require_settings_of_format(
    settings: PrepareSource, chosen: Mapping[str, Any], path: StrPath | None = None
) -> None:
    """Refuse chosen settings of the reading of files that their format does not have.

    Parameters
    ----------
    settings : PrepareSource
        All settings, with the format.
    chosen : mapping
        Those that were chosen, among others; empty ones and defaults were not.
    path : path, optional
        The file.

    Raises
    ------
    InputError
    """
    message = explain_foreign_setting(settings, chosen)
    if message is not None:
        raise InputError(message, path=path, remedy="leave it out, or give another format")


def explain_foreign_setting(settings: PrepareSource, chosen: Mapping[str, Any]) -> str | None:
    """Explain the first chosen setting of the reading of files that their format does not have."""
    format = settings.format
    for name, value in chosen.items():
        if value in (None, (), []):
            continue
        if name == "first_feature":
            is_known = format in FORMATS and name in FORMATS[format].settings
        elif format == LINES_FORMAT:
            is_known = name in PLAIN_LINES.settings or name not in ReadTexts.model_fields
        else:
            field = PrepareSource.model_fields.get(name)
            is_of_format = name in ReadTexts.model_fields or (
                field is not None and setting_info(field).where is FOR_COLUMNS
            )
            is_known = not is_of_format or name not in settings.irrelevant_settings
        if not is_known:
            return f"{name} ({value}): a file of format {format} has no such setting"
    return None


_COMPARED_BLOCKS = ("words", "words+prefixes=6", "words+pairs", "words+pairs+prefixes=6")


class AutoCandidates(Section):
    """Candidates from which ``auto`` chooses."""

    features: Annotated[list[Candidate], BeforeValidator(as_list), Field(min_length=1)] = setting(
        [f"{blocks}+{_NAMES_IN_VOCABULARY}" for blocks in _COMPARED_BLOCKS], "blocks of features"
    )
    C: Annotated[list[AboveZero], BeforeValidator(as_list), Field(min_length=1)] = setting(
        [0.1, 0.3, 1.0, 3.0, 10.0], "values of C; only neighbours of better ones are tried"
    )


class Comparison(Section):
    """Settings of the comparison of candidates."""

    metric: Literal["P@1", "P@3", "P@5", "nDCG@3", "nDCG@5", "PSP@1", "PSP@3", "PSP@5"] = setting(
        "nDCG@5", "metric by which auto chooses"
    )
    instances: int | None = setting(
        None,
        "maximum number of training instances on which all candidates are compared; then the best "
        "and the default are compared with all instances",
        null="12,000; for features 3,000 of less than 200,000",
        ge=2,
    )
    held_out: float = setting(
        0.1, "share of these instances set aside to measure candidates", gt=0, lt=1
    )


class Tune(Comparison):
    """Settings of ``features: auto`` and ``C: auto``, which are chosen without test instances."""

    candidates: AutoCandidates = Field(
        default_factory=AutoCandidates, description="candidates of features and C"
    )


def make_candidates_validator(name: str) -> BeforeValidator:
    """Make a validator that takes the candidates of one setting, or one or several values."""

    def select_candidates(value: Any) -> Any:
        if isinstance(value, AutoCandidates):
            return getattr(value, name)
        return as_list(value)

    return BeforeValidator(select_candidates)


class ChooseFeatures(Comparison, PrepareSource):
    """Settings of the choice of features."""

    candidates: Annotated[list[Candidate], make_candidates_validator("features")] = setting(
        AutoCandidates().features, "blocks of features to compare, such as words+pairs"
    )
