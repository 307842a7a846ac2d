"""Settings of how files become a dataset, and how its features are chosen."""

import json
import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from ovaflow.reading.columns import split_column_names
from ovaflow.reading.feature_columns import COLUMN_KINDS
from ovaflow.reading.formats import FORMATS
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
)
from ovaflow.settings.source import FOR_COLUMNS, FOR_TEXTS, Format, ReadTexts, holds_texts
from ovaflow.settings.spelling import parse_value


def is_language(stop_words: str) -> bool:
    """Whether stop words are those of a language rather than of a file."""
    return re.fullmatch("[a-z]+", stop_words) is not None


def is_label_file(entry: str) -> bool:
    """Whether what is to be included or excluded is a file of names rather than a name."""
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
"""What each block of features takes: a pattern, the default, and both in words."""


def _block(written: Any) -> str:
    """A block of features in one word, such as ``prefixes=6``, from ``{prefixes: 6}``."""
    block = parse_value(written)
    if isinstance(block, dict) and len(block) == 1:
        ((name, argument),) = block.items()
    else:
        name, _, argument = str(block).partition("=")
    if name not in _BLOCK_ARGUMENTS:
        raise ValueError(
            f"{written} is not a block of features: give words, pairs, names, prefixes or {{prefixes: 6}}, "
            "{stems: finnish} (or a list of languages), characters or {characters: [4, 5]}"
        )
    pattern, default, expected = _BLOCK_ARGUMENTS[name]
    if argument is None or argument == "":
        argument = default
    separator = "-" if name == "characters" else ","
    text = separator.join(map(str, argument)) if isinstance(argument, list) else str(argument)
    if not re.fullmatch(pattern, text):
        found = "nothing" if argument == "" else json.dumps(argument, default=str)
        raise ValueError(f"{name}: found {found}, expected {expected}")
    return f"{name}={text}" if text else name


Block = Annotated[
    str,
    OneWordValidator(_block),
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
DEFAULT_FEATURES = ["words", "prefixes=6", _NAMES_IN_VOCABULARY]


def resolve_blocks(features: list[str], has_vocabulary: bool) -> list[str]:
    """Blocks of features, with names of labels instead of those in a vocabulary, or without these."""
    names = {_NAMES_IN_VOCABULARY: "names" if has_vocabulary else None}
    return list(
        dict.fromkeys(block for block in (names.get(each, each) for each in features) if block)
    )


def _candidate(blocks: Any) -> str:
    """Several blocks in one word, such as ``words+prefixes=6``."""
    blocks = parse_value(blocks)
    return "+".join(map(_block, blocks.split("+") if isinstance(blocks, str) else as_list(blocks)))


Candidate = Annotated[
    str,
    OneWordValidator(_candidate),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]}),
]

_FEATURES_OF_TEXTS = Scope("texts", lambda section: section.has_texts)
_COUNTS = Scope("texts, and with tfidf", lambda section: section.has_texts or section.uses_tfidf)
_BESIDE_TEXT = tuple(kind.setting for kind in COLUMN_KINDS)
_WITH_COLUMNS_BESIDE = Scope(
    ", ".join(_BESIDE_TEXT), lambda section: section.has_columns_beside_text
)


class Prepare(ReadTexts):
    """From raw files to dataset.h5."""

    features: (
        Literal["auto"] | Annotated[list[Block], BeforeValidator(as_list), Field(min_length=1)]
    ) = setting(
        DEFAULT_FEATURES,
        "features, side by side: words, pairs of neighbouring words, {prefixes: 6} (of longer words), "
        "{stems: finnish}, {characters: [4, 5]} (inside words), names of labels, {names: vocabulary} (where labels "
        "have a vocabulary or a file of names); also in one word, such as characters=4-5; auto: the best on held-out "
        "training instances",
        where=_FEATURES_OF_TEXTS,
    )
    stop_words: Text | None = setting(
        None,
        "words left out: a language, such as german, or the path of a file with one per line",
        where=_FEATURES_OF_TEXTS,
    )
    column_weights: Annotated[list[AboveZero], BeforeValidator(as_list)] = setting(
        [], "weight of a word in each text column; []: all columns are one text", where=FOR_COLUMNS
    )
    weight_beside_text: AboveZero = setting(
        0.2,
        "what a number or category counts beside the text, whose features have length 1 together",
        where=_WITH_COLUMNS_BESIDE,
    )
    label_names: bool = setting(
        True,
        "also train on the name of each label, as one more text with that label",
        where=_FEATURES_OF_TEXTS,
    )
    language: Text | None = setting(
        None,
        "language of the labels' names in a subject vocabulary",
        where=_FEATURES_OF_TEXTS,
        null="its only one",
    )
    tfidf: Literal["auto"] | bool = setting(
        "auto", "weight features by tf-idf; auto: for texts, not for ready-made features"
    )
    min_df: Frequency = setting(
        2,
        "drop terms that occur in fewer training texts; a number of texts or, with a decimal point, a share",
        where=_FEATURES_OF_TEXTS,
    )
    max_df: Frequency = setting(
        0.5,
        "drop terms that occur in more training texts; a number of texts or, with a decimal point, a share",
        where=_FEATURES_OF_TEXTS,
    )
    max_features: Positive | None = setting(
        None, "keep only the most frequent terms", where=_FEATURES_OF_TEXTS, null="all"
    )
    sublinear: bool = setting(
        True, "use ln(1 + count) instead of a term's count in a text", where=_COUNTS
    )
    normalize: bool = setting(True, "scale each instance to length 1")
    bias: float = setting(1.0, "value of the bias feature appended to each instance; 0: none", ge=0)
    test_fraction: float = setting(
        0.2, "share of instances set aside for testing if there is no test file", gt=0, lt=1
    )
    seed: int = setting(0, "seed of the split if there is no test file", ge=0)
    split: Literal["together", "random", "stratified", "last"] = setting(
        "together",
        "instances set aside: together, drawn so that copies, near twins and groups are never parted; random, each by "
        "itself, for texts that recur; stratified, as together, but rare labels are on both sides; last: the last ones",
    )
    split_column: Text | None = setting(
        None,
        "column that says train, test or dev, the validation part; for split: last a column of numbers or ISO dates, "
        "null: order in the file",
        where=FOR_COLUMNS,
    )
    group_column: Text | None = setting(
        None,
        "column, such as series; records with the same value are never parted, except by split: last and split_column",
        where=FOR_COLUMNS,
    )
    weight_column: Text | None = setting(
        None,
        "column of numbers above 0, what each training record weighs",
        where=FOR_COLUMNS,
        null="all weigh 1",
    )
    label_map: Text | None = setting(
        None,
        "file of two columns, old and new label name, an empty new name drops the label; or a filled in "
        "unknown_subjects.csv",
        where=FOR_TEXTS,
    )
    include: LabelList = setting(
        [],
        "the only labels: names, URIs, patterns such as http://example.org/places/*, schemes and "
        "collections of the vocabulary, or a .txt file with one of these per line; []: all",
    )
    exclude: LabelList = setting([], "what are no labels, also of those included; as include")
    hierarchy: Text | None = setting(
        None,
        "separator of levels in labels' names, such as ' > ', or broader for the relations of a vocabulary: "
        "records also have the labels above theirs",
        where=FOR_TEXTS,
    )
    unlabelled: Literal["keep", "drop"] = setting(
        "keep",
        "instances without labels: keep, as negatives of all labels, or drop, in training and test",
    )

    @property
    def files(self) -> dict[str, str]:
        files = {}
        if self.stop_words and not is_language(self.stop_words):
            files["stop_words"] = self.stop_words
        if self.label_map:
            files["label_map"] = self.label_map
        for name, entries in (("include", self.include), ("exclude", self.exclude)):
            if any(map(is_label_file, entries)):
                files[name] = entries[0]
        return files

    @property
    def split_conflict(self) -> str:
        """What is wrong if split and split_column both say what is for testing; empty if they do
        not.
        """
        if self.split_column and self.split in ("random", "stratified"):
            return f"split_column ({self.split_column}) divides the records itself; leave out split: {self.split}"
        return ""

    @model_validator(mode="after")
    def _one_list_of_labels(self) -> Self:
        for name in ("include", "exclude"):
            entries = getattr(self, name)
            if len(entries) > 1 and any(map(is_label_file, entries)):
                raise ValueError(f"{name}: give one .txt file or a list of names, not both")
        return self

    @model_validator(mode="after")
    def _a_weight_per_column(self) -> Self:
        columns = len(split_column_names(self.text_column))
        if self.column_weights and len(self.column_weights) != columns:
            n = len(self.column_weights)
            raise ValueError(f"{n} column_weights for {columns} text columns ({self.text_column})")
        return self


_SETTINGS_OF_SPLITS = ("test_fraction", "seed", "split", "split_column")


class ExtraFiles(Section):
    """Settings of further training files."""

    extra_weight: Annotated[list[AboveZero], BeforeValidator(as_list)] = setting(
        [], "weight of the records of each extra file, in their order"
    )


class PrepareSource(Prepare, ExtraFiles):
    """What ``ovaflow prepare`` reads."""

    format: Annotated[
        Literal["builtin"] | Format, BeforeValidator(lambda name: name or "builtin")
    ] = setting(..., "builtin needs no files")
    has_test: bool = setting(False, "whether there is a test file")

    @model_validator(mode="before")
    @classmethod
    def _columns_of_the_format(cls, values: Any) -> Any:
        """Columns that a format has by itself, where none is chosen."""
        kind = FORMATS.get(str(values.get("format"))) if isinstance(values, dict) else None
        for name, column in kind.columns.items() if kind else ():
            if values.get(name) in (None, cls.model_fields[name].default):
                values = values | {name: column}
        return values

    @property
    def has_texts(self) -> bool:
        return self.format == "builtin" or (holds_texts(self.format) and self.vector_column is None)

    @property
    def uses_tfidf(self) -> bool:
        """Whether features are weighted by tf-idf."""
        return self.tfidf if isinstance(self.tfidf, bool) else self.has_texts

    @property
    def relevant(self) -> dict[str, Any]:
        unused = self.irrelevant_settings | {"has_test"}
        unused.update(name for name in _BESIDE_TEXT if getattr(self, name) is None)
        if self.has_test:
            unused.update(_SETTINGS_OF_SPLITS)
            if self.split == "random":
                # it also says how later steps hold out
                unused.discard("split")
        elif self.format == "builtin":
            unused.add("split")
        elif self.split == "last":
            unused.add("seed")
        elif self.split_column and FOR_COLUMNS.holds(self):
            unused.update(("test_fraction", "seed", "split"))
        return self._without(*unused) | {"tfidf": self.uses_tfidf}

    @property
    def has_columns_beside_text(self) -> bool:
        return any(getattr(self, name) for name in _BESIDE_TEXT)

    @model_validator(mode="after")
    def _columns_beside_a_text(self) -> Self:
        if self.has_columns_beside_text and (self.vector_column or not FOR_COLUMNS.holds(self)):
            names = ", ".join(name for name in _BESIDE_TEXT if getattr(self, name))
            instead = "vector_column" if self.vector_column else f"format: {self.format}"
            raise ValueError(
                f"{names}: beside texts in columns ({FOR_COLUMNS.words}), not with {instead}"
            )
        return self

    @model_validator(mode="after")
    def _one_way_to_split(self) -> Self:
        if self.split_conflict:
            raise ValueError(self.split_conflict)
        columns = ", ".join(
            name for name in ("split_column", "group_column") if getattr(self, name)
        )
        if self.vector_column and columns:
            raise ValueError(
                f"{columns}: records of a vector_column are divided one by one; give a test file"
            )
        return self


_COMPARED_BLOCKS = ("words", "words+prefixes=6", "words+pairs", "words+pairs+prefixes=6")


class AutoCandidates(Section):
    """What ``auto`` chooses from."""

    features: Annotated[list[Candidate], BeforeValidator(as_list), Field(min_length=1)] = setting(
        [f"{blocks}+{_NAMES_IN_VOCABULARY}" for blocks in _COMPARED_BLOCKS], "blocks of features"
    )
    C: Annotated[list[AboveZero], BeforeValidator(as_list), Field(min_length=1)] = setting(
        [0.1, 0.3, 1.0, 3.0, 10.0], "values of C; only neighbours of better ones are tried"
    )


class Comparison(Section):
    """How candidates are compared."""

    metric: Literal["P@1", "P@3", "P@5", "nDCG@3", "nDCG@5", "PSP@1", "PSP@3", "PSP@5"] = setting(
        "nDCG@5", "metric by which auto chooses"
    )
    instances: int | None = setting(
        None,
        "most training instances on which all candidates are compared, before the best and the default are with all "
        "instances",
        null="12,000; for features 3,000 of less than 200,000",
        ge=2,
    )
    held_out: float = setting(
        0.1, "share of these instances set aside to measure candidates", gt=0, lt=1
    )


class Tune(Comparison):
    """How ``features: auto`` and ``C: auto`` are chosen, without test instances."""

    candidates: AutoCandidates = Field(
        default_factory=AutoCandidates, description="candidates of features and C"
    )


def make_candidates_validator(name: str) -> BeforeValidator:
    """Candidates of one setting, from those of all or from one or several."""
    return BeforeValidator(
        lambda value: getattr(value, name) if isinstance(value, AutoCandidates) else as_list(value)
    )


class ChooseFeatures(Comparison, PrepareSource):
    """What the choice of features reads."""

    candidates: Annotated[list[Candidate], make_candidates_validator("features")] = setting(
        AutoCandidates().features, "blocks of features to compare, such as words+pairs"
    )
