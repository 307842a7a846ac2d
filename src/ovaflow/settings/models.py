"""Every setting, once: name, type, default, bounds and one sentence.

Sections are what a config file says. Classes named by a verb are what one step of the pipeline reads: the config fills
them, the rule's parameters are their :attr:`Section.relevant` settings, options of the subcommand are made of their
fields, and the code gets the object itself.
"""

import codecs
import importlib
import json
import re
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from ovaflow.methods import ONE_VS_ALL
from ovaflow.reading.columns import joined_names, split_names
from ovaflow.reading.foreign import conversion_of
from ovaflow.reading.formats import FORMATS
from ovaflow.settings.spelling import parsed

NAME = r"^[A-Za-z0-9_][A-Za-z0-9._-]*$"
HELD_OUT = "held-out-"
"""Folders of what is trained without held-out instances begin like this."""
CANDIDATES = 50
"""Labels of each instance that a second stage ranks: the first ones by score."""
AUTO_RERANK = 0.2
"""Share of the training texts that ``rerank: auto`` holds out."""
RESERVED = frozenset({"dataset.h5", "means.h5", "label_tree.h5", "embeddings", "report.html"})
ROLES = ("train", "test", "extra", "labels", "vocabulary", "train_labels", "test_labels")
_SEVERAL = ("train", "test", "extra")

STARTS = {
    "zero": (),
    "bias": ("bias_lambda",),
    "all-negative": ("root_epsilon",),
    "label-tree": ("root_epsilon",),
    "mean-separating": ("s", "t"),
    # labels that an earlier model lacks start mean-separating
    "pretrained": ("s", "t", "retrain"),
}
"""Settings that each start reads."""

NEGATIVE_SCORE = {"squared-hinge": -2.0, "logistic": -3.0}
"""Default of t by loss: mean score of the negatives in the mean-separating start (MSI, sec. 4)."""

STORED_THRESHOLD = 0.01
"""Shards keep all weights of at least this size, so that pruning more needs no training."""


def _free_name(name: str) -> str:
    if name in RESERVED or name.startswith(HELD_OUT):
        raise ValueError(f"{name} is the name of a result file; choose another name")
    return name


def is_address(location: str) -> bool:
    """Whether a file must be downloaded."""
    return location.startswith(("http://", "https://"))


def is_stored(location: str) -> bool:
    """Whether a file is in storage that Snakemake reads."""
    return location.startswith("s3://")


def is_language(stop_words: str) -> bool:
    """Whether stop words are those of a language rather than of a file."""
    return re.fullmatch("[a-z]+", stop_words) is not None


def is_list_of_labels(entry: str) -> bool:
    """Whether what is to be included or excluded is a file of names rather than a name."""
    return entry.endswith(".txt")


def holds_texts(format: str | None) -> bool:
    """Whether files of a format hold texts, rather than features."""
    return format in FORMATS and FORMATS[format].holds_texts


def may_be_several(role: str, format: str | None) -> bool:
    """Whether a file may be a pattern, or a list, of several; of Annif's also a folder."""
    return role in _SEVERAL and holds_texts(format)


def with_columns() -> str:
    """Formats whose records have named columns, for a sentence."""
    return ", ".join(name for name, each in FORMATS.items() if each.has_columns)


def _known_format(name: str) -> str:
    if conversion := conversion_of(name):
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
    plain = re.sub(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}", "", location) if is_address(location) else location
    if any(character in "{}" or not character.isprintable() for character in plain):
        raise ValueError("braces and control characters in a path are not supported; rename the file")
    is_remote = is_address(location) or is_stored(location)
    if "://" in location and not (is_remote and urlsplit(location).netloc):
        raise ValueError("expected a path, or an address that begins with http://, https:// or s3://")
    return location


Name = Annotated[str, StringConstraints(pattern=NAME, max_length=100), AfterValidator(_free_name)]


def _plain_number(value: Any) -> Any:
    """A text of a whole number, which can only be written in one way where the loader of config files took it."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Text = Annotated[str, BeforeValidator(_plain_number), StringConstraints(min_length=1)]
Location = Annotated[Text, AfterValidator(_plain_location)]


def listed(value: Any) -> Any:
    """One or several as a list."""
    return value if isinstance(value, list) else [value]


Locations = Location | Annotated[list[Location], Field(min_length=1)]


def _joined(names: Any) -> Any:
    texts = list(map(_plain_number, listed(names)))
    if not all(isinstance(each, str) for each in texts):
        return names
    return joined_names(texts) if isinstance(names, list) else texts[0]


ColumnNames = Annotated[
    Text,
    BeforeValidator(_joined),
    WithJsonSchema({"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}}]}),
]
LabelList = Annotated[list[Text], BeforeValidator(listed)]
Positive = Annotated[int, Field(ge=1)]
AtLeastZero = Annotated[float, Field(ge=0)]
AboveZero = Annotated[float, Field(gt=0)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Frequency = Positive | Annotated[float, Field(gt=0, le=1)]

_COLUMNS = with_columns()
Format = Annotated[str, AfterValidator(_known_format), WithJsonSchema({"type": "string", "enum": list(FORMATS)})]
Encoding = Annotated[str, AfterValidator(_known_encoding)]
Initialization = Literal["zero", "bias", "all-negative", "label-tree", "mean-separating", "pretrained"]
Weighting = Literal["none", "propensity"]


def setting(default: Any, sentence: str, **bounds: Any) -> Any:
    """A field: its default, what it does, and its bounds as :func:`pydantic.Field` names them."""
    return Field(default, description=sentence, **bounds)


# in several models each
INITIALIZATION = setting("mean-separating", "where the solver starts")
WEIGHTING = setting("none", "weight of positives; propensity: more for rare labels, which annotators miss most often")
SEED = setting(0, "seed of all random draws", ge=0, lt=2**63)


class Section(BaseModel):
    """Settings that belong together; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    @cache
    def texts(cls) -> frozenset[str]:
        """Settings that take texts, which are never parsed."""
        return frozenset(name for name, field in cls.model_fields.items() if _takes_texts(field.annotation))

    @field_validator("*", mode="before")
    @classmethod
    def _as_written(cls, value: Any, info: ValidationInfo) -> Any:
        """Values from texts, which command lines and YAML's ``1e-2`` give."""
        return value if info.field_name in cls.texts() else parsed(value)

    @property
    def relevant(self) -> dict[str, Any]:
        """Settings that the result depends on, given the others: what rules compare and artifacts record."""
        return self._without()

    @property
    def files(self) -> dict[str, str]:
        """Settings that are paths of files, which rules take as inputs."""
        return {}

    def _without(self, *unused: str) -> dict[str, Any]:
        return {name: value for name, value in self if name not in unused}


def _takes_texts(annotation: Any) -> bool:
    parts = get_args(annotation)
    return annotation is str or (not any(isinstance(part, Spelled) for part in parts) and any(map(_takes_texts, parts)))


class Spelled(BeforeValidator):
    """Makes one word of what a setting's values say, texts or not; such a word is no text that must stay as it is."""


class Source(Section):
    """Where a dataset comes from."""

    source: Literal["builtin", "catalogue"] | None = setting(
        None,
        "builtin: docstrings of this machine's packages; catalogue: a public dataset of config/datasets.yaml",
    )
    name: Name | None = setting(None, "name in the catalogue, if it differs from this entry's")
    format: Format | None = setting(None, "format of your own files; .gz, .bz2, .xz and .zst are read as they are")
    train: Locations | None = setting(
        None,
        "training file: path, http(s) or s3 address; for texts also a pattern such as exports/*.csv or a list of paths",
    )
    test: Locations | None = setting(None, "test file, as train; without one, part of the training file is set aside")
    extra: dict[Location, AboveZero] | None = Field(
        None,
        min_length=1,
        description="texts: further training files and what each of their records weighs beside one of train, such as "
        "corrections.jsonl: 2; never held out or tested on",
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
        return self.source == "builtin" or (holds_texts(self.format) and getattr(self, "vector_column", None) is None)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.source is None and (self.format is None or self.train is None):
            raise ValueError("needs either source (builtin or catalogue) or both format and train")
        excluded = [key for key in ("format", *ROLES) if getattr(self, key) is not None]
        if self.source is not None and excluded:
            raise ValueError(f"source: {self.source} excludes {', '.join(excluded)}")
        if self.vocabulary is not None and (
            self.labels is not None or not (self.format is None or holds_texts(self.format))
        ):
            raise ValueError("vocabulary goes with texts, and excludes labels")
        if self.extra and (not holds_texts(self.format) or any(map(is_address, self.extra))):
            raise ValueError("extra goes with texts, and has paths rather than addresses")
        for role in ("train", "test"):
            paths = getattr(self, role)
            if isinstance(paths, list) and (not holds_texts(self.format) or any(map(is_address, paths))):
                raise ValueError(f"{role}: a list is only for texts, and of paths rather than addresses")
            has_labels = getattr(self, f"{role}_labels") is not None
            if has_labels != (self.format == "npz" and paths is not None):
                raise ValueError(f"{role}_labels goes with format: npz and {role}, which needs it")
        return self


_BLOCKS = {
    "words": ("", "", "nothing"),
    "pairs": ("", "", "nothing"),
    "names": ("", "", "nothing"),
    "prefixes": (r"[1-9]\d?", "6", "a number of letters below 100"),
    "stems": (r"[a-z_]+(,[a-z_]+)*", "", 'a language, such as finnish or "no" in quotes, or a list of languages'),
    "characters": (
        "|".join(f"{least}-[{least}-9]" for least in range(1, 10)),
        "4-5",
        "the least and the most letters, each below 10, such as [4, 5]",
    ),
}
"""What each block of features takes: a pattern, the default, and both in words."""


def _block(written: Any) -> str:
    """A block of features in one word, such as ``prefixes=6``, from ``{prefixes: 6}``."""
    block = parsed(written)
    if isinstance(block, dict) and len(block) == 1:
        ((name, argument),) = block.items()
    else:
        name, _, argument = str(block).partition("=")
    if name not in _BLOCKS:
        raise ValueError(
            f"{written} is not a block of features: give words, pairs, names, prefixes or {{prefixes: 6}}, "
            "{stems: finnish} (or a list of languages), characters or {characters: [4, 5]}"
        )
    pattern, default, expected = _BLOCKS[name]
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
    Spelled(_block),
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
DEFAULT_FEATURES = ["words", "prefixes=6"]


def _candidate(blocks: Any) -> str:
    """Several blocks in one word, such as ``words+prefixes=6``."""
    blocks = parsed(blocks)
    return "+".join(map(_block, blocks.split("+") if isinstance(blocks, str) else listed(blocks)))


Candidate = Annotated[
    str,
    Spelled(_candidate),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]}),
]


class ReadTexts(Section):
    """How files of texts and labels are read; a model remembers it."""

    text_column: ColumnNames = setting(
        "text", f"{_COLUMNS}: column of the text, or several: title,abstract; a name with commas is in double quotes"
    )
    vector_column: Text | None = setting(
        None, f"{_COLUMNS}: column of vectors, lists of numbers, which are the features instead of texts"
    )
    labels_column: ColumnNames = setting(
        "labels", f"{_COLUMNS}: column of the labels, or several, which may be truth values: sports,politics"
    )
    id_column: Text | None = setting(
        None, f"{_COLUMNS}: column of record ids, which the report shows; null: id, if that column exists"
    )
    label_separator: Text = setting(
        ",", "texts: separator between labels; none: the whole cell is a label (lists need no separator)"
    )
    label_key: Text | None = setting(
        None, "texts: key of the name in labels that are objects; null: the only key that can be meant"
    )
    labels_are: Literal["auto", "names", "one-hot"] = setting(
        "auto",
        "texts: names, or one-hot: columns, keys or places of a list that say yes or no (1/0, true/false, x/empty); "
        "auto: one-hot where several columns or long lists hold nothing else",
    )
    first_label: int = setting(0, "id of the first line of the file of label names", ge=0, le=1)
    missing: Literal["auto"] | LabelList = setting(
        "auto", "texts: what a whole cell or label is where there is none; auto: nan, None, NULL, N/A, NaT and -"
    )
    encoding: Encoding = setting(
        "utf-8", "csv, jsonl, text-tsv, fasttext: encoding, such as windows-1252; UTF-16 is known by its mark"
    )
    quotes: Literal["auto", "double", "backslash", "none"] = setting(
        "auto",
        'csv: double: "" is a quote inside quotes; backslash: \\" is; none: quotes mean nothing; auto: double, unless '
        "they swallow records",
    )
    sheet: Text | None = setting(None, "xlsx, ods: name of the sheet; null: the first")
    html: bool = setting(False, "texts: remove HTML tags and decode HTML entities")
    repeated: Literal["keep", "last", "join"] = setting(
        "keep",
        "records with the same id; last: only the last counts, as a correction; join: they are one record with the "
        "labels of all (without ids, records with the same text)",
    )


class Prepare(ReadTexts):
    """From raw files to dataset.h5."""

    features: Literal["auto"] | Annotated[list[Block], BeforeValidator(listed), Field(min_length=1)] = setting(
        DEFAULT_FEATURES,
        "features of texts, side by side: words, pairs of neighbouring words, {prefixes: 6} (of longer words), "
        "{stems: finnish}, {characters: [4, 5]} (inside words), names of labels; also in one word, such as "
        "characters=4-5; auto: the best on held-out training instances",
    )
    stop_words: Text | None = setting(
        None, "words left out of texts: a language, such as german, or the path of a file with one per line"
    )
    column_weights: Annotated[list[AboveZero], BeforeValidator(listed)] = setting(
        [], "weight of a word in each text column; []: all columns are one text"
    )
    label_names: bool = setting(True, "also train on the name of each label, as one more text with that label")
    language: Text | None = setting(None, "language of the labels' names in a subject vocabulary; null: its only one")
    tfidf: Literal["auto"] | bool = setting(
        "auto", "weight features by tf-idf; auto: for texts, not for ready-made features"
    )
    min_df: Frequency = setting(
        2, "drop terms that occur in fewer training texts; a number of texts or, with a decimal point, a share"
    )
    max_df: Frequency = setting(
        0.5, "drop terms that occur in more training texts; a number of texts or, with a decimal point, a share"
    )
    max_features: Positive | None = setting(None, "keep only the most frequent terms; null: all")
    sublinear: bool = setting(True, "use ln(1 + count) instead of a term's count in a text")
    normalize: bool = setting(True, "scale each instance to length 1")
    bias: float = setting(1.0, "value of the bias feature appended to each instance; 0: none", ge=0)
    test_fraction: float = setting(0.2, "share of instances set aside for testing if there is no test file", gt=0, lt=1)
    seed: int = setting(0, "seed of the split if there is no test file", ge=0)
    split: Literal["together", "random", "stratified", "last"] = setting(
        "together",
        "instances set aside: together, drawn so that copies, near twins and groups are never parted; random, each by "
        "itself, for texts that recur; stratified, as together, but rare labels are on both sides; last: the last ones",
    )
    split_column: Text | None = setting(
        None,
        f"{_COLUMNS}: column that says train, test or dev, which is left out; for split: last a column of "
        "numbers or ISO dates, null: order in the file",
    )
    group_column: Text | None = setting(
        None,
        f"{_COLUMNS}: column, such as series; records with the same value are never parted, "
        "except by split: last and split_column",
    )
    label_map: Text | None = setting(
        None, "texts: file of two columns, old and new label name; an empty new name drops the label"
    )
    include: LabelList = setting(
        [],
        "the only labels: names, URIs, patterns such as http://example.org/places/*, schemes and "
        "collections of the vocabulary, or a .txt file with one of these per line; []: all",
    )
    exclude: LabelList = setting([], "what are no labels, also of those included; as include")
    hierarchy: Text | None = setting(
        None,
        "texts: separator of levels in labels' names, such as ' > ', or broader for the relations of a vocabulary: "
        "records also have the labels above theirs",
    )
    unlabelled: Literal["keep", "drop"] = setting(
        "keep", "instances without labels: keep, as negatives of all labels, or drop, in training and test"
    )

    @property
    def files(self) -> dict[str, str]:
        files = {}
        if self.stop_words and not is_language(self.stop_words):
            files["stop_words"] = self.stop_words
        if self.label_map:
            files["label_map"] = self.label_map
        for name, entries in (("include", self.include), ("exclude", self.exclude)):
            if any(map(is_list_of_labels, entries)):
                files[name] = entries[0]
        return files

    @property
    def two_splits(self) -> str:
        """What is wrong if split and split_column both say what is for testing; empty if they do not."""
        if self.split_column and self.split in ("random", "stratified"):
            return f"split_column ({self.split_column}) divides the records itself; leave out split: {self.split}"
        return ""

    @model_validator(mode="after")
    def _one_list_of_labels(self) -> Self:
        for name in ("include", "exclude"):
            entries = getattr(self, name)
            if len(entries) > 1 and any(map(is_list_of_labels, entries)):
                raise ValueError(f"{name}: give one .txt file or a list of names, not both")
        return self

    @model_validator(mode="after")
    def _a_weight_per_column(self) -> Self:
        columns = len(split_names(self.text_column))
        if self.column_weights and len(self.column_weights) != columns:
            n = len(self.column_weights)
            raise ValueError(f"{n} column_weights for {columns} text columns ({self.text_column})")
        return self


_SETTINGS_OF_TEXTS = ("features", "stop_words", "label_names", "language", "min_df", "max_df", "max_features")
_SETTINGS_OF_COLUMNS = (
    "text_column",
    "vector_column",
    "labels_column",
    "column_weights",
    "id_column",
    "group_column",
    "split_column",
)
_SETTINGS_OF_LABELS = ("label_map", "html", "hierarchy", "label_key", "labels_are", "missing", "repeated")
_SETTINGS_OF_SPLITS = ("test_fraction", "seed", "split", "split_column")


class ExtraFiles(Section):
    """Of further training files."""

    extra_weight: Annotated[list[AboveZero], BeforeValidator(listed)] = setting(
        [], "weight of the records of each extra file, in their order"
    )


class PrepareSource(Prepare, ExtraFiles):
    """What ``ovaflow prepare`` reads."""

    format: Annotated[Literal["builtin"] | Format, BeforeValidator(lambda name: name or "builtin")] = setting(
        ..., "builtin needs no files"
    )
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
    def weighs(self) -> bool:
        """Whether features are weighted by tf-idf."""
        return self.tfidf if isinstance(self.tfidf, bool) else self.has_texts

    @property
    def relevant(self) -> dict[str, Any]:
        unused = {"has_test"}
        if not self.has_texts:
            unused.update(_SETTINGS_OF_TEXTS)
        if not (self.has_texts or self.weighs):
            unused.add("sublinear")
        kind = FORMATS.get(self.format)
        if kind is None or not kind.has_columns:
            unused.update(_SETTINGS_OF_COLUMNS)
        if kind is None or not kind.has_separator:
            unused.add("label_separator")
        if not holds_texts(self.format):
            unused.update(_SETTINGS_OF_LABELS)
        unused.update({"encoding", "quotes", "sheet"} - set(kind.settings if kind else ()))
        if self.has_test:
            unused.update(_SETTINGS_OF_SPLITS)
            if self.split == "random":
                # it also says how later steps hold out
                unused.discard("split")
        elif self.format == "builtin":
            unused.add("split")
        elif self.split == "last":
            unused.add("seed")
        elif self.split_column and kind is not None and kind.has_columns:
            unused.update(("test_fraction", "seed", "split"))
        return self._without(*unused) | {"tfidf": self.weighs}

    @model_validator(mode="after")
    def _one_way_to_split(self) -> Self:
        if self.two_splits:
            raise ValueError(self.two_splits)
        return self


class Candidates(Section):
    """What ``auto`` chooses from."""

    features: Annotated[list[Candidate], BeforeValidator(listed), Field(min_length=1)] = setting(
        ["words", "words+prefixes=6", "words+pairs", "words+pairs+prefixes=6"], "blocks of features"
    )
    C: Annotated[list[AboveZero], BeforeValidator(listed), Field(min_length=1)] = setting(
        [0.1, 0.3, 1.0, 3.0, 10.0], "values of C; only neighbours of better ones are tried"
    )


class Comparison(Section):
    """How candidates are compared."""

    metric: Literal["P@1", "P@3", "P@5", "nDCG@3", "nDCG@5", "PSP@1", "PSP@3", "PSP@5"] = setting(
        "nDCG@5", "metric by which auto chooses"
    )
    instances: int | None = setting(
        None,
        "most training instances on which candidates are compared; null: 12,000; for features 3,000 of "
        "less than 200,000",
        ge=2,
    )
    held_out: float = setting(0.1, "share of these instances set aside to measure candidates", gt=0, lt=1)


class Tune(Comparison):
    """How ``features: auto`` and ``C: auto`` are chosen, without test instances."""

    candidates: Candidates = Field(default_factory=Candidates, description="candidates of features and C")


def _candidates_of(name: str) -> BeforeValidator:
    """Candidates of one setting, from those of all or from one or several."""
    return BeforeValidator(lambda value: getattr(value, name) if isinstance(value, Candidates) else listed(value))


class FeatureCandidates(Comparison):
    """How blocks of features are compared."""

    candidates: Annotated[list[Candidate], _candidates_of("features")] = setting(
        Candidates().features, "blocks of features to compare, such as words+pairs"
    )


class ChooseFeatures(FeatureCandidates, PrepareSource):
    """What the choice of features reads."""


class Evaluate(Section):
    """From predictions to metrics."""

    propensity_a: float = setting(
        0.55, "A of the propensities (Jain et al. 2016); 0.5 for Wikipedia, 0.6 for Amazon data", gt=0
    )
    propensity_b: float = setting(
        1.5, "B of the propensities (Jain et al. 2016); 0.4 for Wikipedia, 2.6 for Amazon data", ge=0
    )


def unused_propensities(weighting: str) -> tuple[str, ...]:
    """Settings of propensities that a weighting does not need."""
    return () if weighting == "propensity" else tuple(Evaluate.model_fields)


class Solve(Section):
    """The problem of each label, and where its solution starts."""

    C: AboveZero | Literal["auto"] = setting(
        1.0, "weight of the loss against the regularisation; auto: the best on held-out training instances"
    )
    loss: Literal["squared-hinge", "logistic"] = setting(
        "squared-hinge", "loss function; logistic needs a larger C, 10 to 100"
    )
    regularization: Literal["l2", "l1"] = setting(
        "l2", "penalty on the weights; l2: their squares; l1: their absolute values, which leaves few weights per label"
    )
    weighting: Weighting = WEIGHTING
    epsilon: Annotated[float, Field(gt=0, le=100)] | Literal["auto"] = setting(
        "auto", "relative gradient norm at which the solver stops; auto: 0.01, up to 0.1 for labels of few positives"
    )
    s: float = setting(1.0, "mean-separating start: score of the mean of the positives")
    t: float | None = setting(
        None, "mean-separating start: score of the mean of the negatives; null: -2, with the logistic loss -3"
    )
    bias_lambda: float = setting(2.0, "bias start: every score starts at minus this", gt=0)
    root_epsilon: float = setting(
        0.01,
        "all-negative and label-tree starts: relative gradient norm at which solving the root stops early",
        gt=0,
        lt=1,
    )
    retrain: Literal["all", "changed", "new"] = setting(
        "all",
        "pretrained start: labels to train; the others keep the earlier model's weights; "
        "changed: those whose number of positives differs, and new ones; new: those that the model lacks",
    )

    @property
    def negative_score(self) -> float:
        """``t``, or what it is by default under this loss."""
        return NEGATIVE_SCORE[self.loss] if self.t is None else self.t


class Train(Solve):
    """From a dataset to a model."""

    prune: float = setting(0.01, "drop weights smaller than this; a larger value makes a smaller model", ge=0)
    shards: Annotated[int, Field(ge=1, le=100_000)] | Literal["auto"] = setting(
        "auto",
        "number of training jobs that a run is divided into; auto: by the size of files, one for each 8 MB of texts",
    )
    threads: Positive = setting(1, "threads of each of these jobs; results do not depend on it")

    @property
    def stored_threshold(self) -> float:
        """Size from which on weights are stored in shards."""
        return min(self.prune, STORED_THRESHOLD)


class TrainLabels(Evaluate, Solve):
    """What the training of labels reads."""

    initialization: Initialization = INITIALIZATION
    stored_threshold: float = setting(STORED_THRESHOLD, "shards drop weights smaller than this", ge=0)
    reference: bool = setting(False, "use the plain solver, one label at a time")

    @property
    def needs_root(self) -> bool:
        """Whether the start needs the problem without positives solved."""
        return "root_epsilon" in STARTS[self.initialization]

    @property
    def needs_tree(self) -> bool:
        return self.initialization == "label-tree"

    @property
    def relevant(self) -> dict[str, Any]:
        unused = set().union(*STARTS.values()) - set(STARTS[self.initialization])
        settings = self._without(*unused, *unused_propensities(self.weighting))
        if "t" in settings:
            settings["t"] = self.negative_score
        return settings

    @property
    def recorded(self) -> dict[str, Any]:
        """The relevant settings with the method, as artifacts record them."""
        return {"method": ONE_VS_ALL} | self.relevant


class SampleLabels(TrainLabels):
    """What the training of a sample of the labels reads."""

    sample: int = setting(300, "approximate size of the sample of labels", ge=2)
    prune: float = setting(0.01, "drop weights smaller than this; a larger value makes a smaller model", ge=0)
    seed: int = SEED

    @property
    def training(self) -> TrainLabels:
        """How its labels are trained."""
        settings = self.model_dump(include=set(TrainLabels.model_fields))
        return TrainLabels.model_validate(settings | {"stored_threshold": Train(prune=self.prune).stored_threshold})


class ChooseC(Comparison, TrainLabels):
    """What the choice of C reads."""

    candidates: Annotated[list[AboveZero], _candidates_of("C")] = setting(Candidates().C, "values of C to compare")


class Predict(Section):
    """From a model to predictions."""

    top_k: Positive = setting(5, "number of labels predicted for each instance")
    rerank: Literal["auto"] | Annotated[float, Field(ge=0, lt=1)] = setting(
        "auto",
        "share of the training instances held out to fit the second stage, which ranks the candidates of the model "
        "and gives them probabilities; 0: none; auto: 0.2 for texts, none for ready-made features or with retrain",
    )
    rerank_with: list[Location] = setting(
        [],
        "other runs of this config, .csv files of id, label and score by other programs, or folders of Annif's results:"
        " what they suggest is evidence of the second stage; []: none",
    )
    optimise: Literal["macro-F1"] | None = setting(
        None,
        "macro-F1: of all texts together, so that rare labels are found; fewer labels are right than in the order of "
        "probability; needs rerank",
    )


class Report(Section):
    """The page at the end."""

    examples: int = setting(10, "number of test documents shown with their predicted and true labels", ge=0)
    prune_thresholds: Annotated[list[AboveZero], BeforeValidator(listed)] = setting(
        [0.05, 0.1, 0.2, 0.3, 0.5], "thresholds at which models pruned further are measured; []: none"
    )
    intended_use: Text | None = setting(None, "what the models are for; shown on the model card")
    licence: Text | None = setting(None, "licence of the models; shown on the model card")


class Sweep(Section):
    """Values of a setting; each becomes a run of its own."""

    C: list[AboveZero] | None = Field(None, min_length=1, description="values of C, in any order")
    seed: list[Seed] | None = Field(None, min_length=2, description="seeds: the report has mean and spread")

    @model_validator(mode="after")
    def _one_setting(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("sweep needs either C or seed")
        name, values = self.swept
        for value, following in pairwise(values):
            if value == following:
                raise ValueError(f"{name}: {value:g} appears twice")
        return self

    @property
    def swept(self) -> tuple[str, list[float]]:
        """Name of the setting, and its values in ascending order."""
        return ("C", sorted(self.C)) if self.C else ("seed", sorted(self.seed or []))


def named_model(name: str | type[Section]) -> type[Section]:
    """A model by its name here, or in another module, such as ``package.module:Name``; or the model itself."""
    if not isinstance(name, str):
        return name
    module, _, attribute = name.rpartition(":")
    return getattr(importlib.import_module(module or __name__), attribute)
