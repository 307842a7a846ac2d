"""What a config file may say: every key with its legal values and its default."""

import os
import re
import unicodedata
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import parse_qsl, urlsplit

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ovaflow.configuration.folds import HELD_OUT
from ovaflow.configuration.losses import NEGATIVE_SCORE

NAME = r"^[A-Za-z0-9_][A-Za-z0-9._-]*$"
VARIABLE = r"\$\{[A-Za-z_][A-Za-z0-9_]*\}"
"""Stands in an address for the value of an environment variable."""
SECRET_KEYS = frozenset(
    {"access_token", "api_key", "apikey", "auth", "key", "passwd", "password", "secret", "sig", "signature", "token"}
    | {"x-amz-credential", "x-amz-security-token", "x-amz-signature", "x-goog-credential", "x-goog-signature"}
)
"""Of an address's query: what holds a secret by its name."""
LONGEST_PATH = 1000
"""Bytes; Linux takes four times as many of a path, and 255 of each part."""
RESERVED = frozenset({"dataset.h5", "means.h5", "label_tree.h5", "embeddings", "report.html"})
ROLES = ("train", "test", "labels", "train_labels", "test_labels")
TEXT_FORMATS = ("text-tsv", "jsonl", "csv", "parquet")


def _no_reserved_name(name: str) -> str:
    if name in RESERVED or name.startswith(HELD_OUT):
        raise ValueError(f"{name} is the name of a result file; choose another name")
    # Snakemake takes it for an endless recursion
    if re.search(r"(.+)\1{19}$", name):
        raise ValueError(f"{name} ends with the same letters twenty times; choose another name")
    return name


def _plain_path(path: str) -> str:
    address = path.startswith(("http://", "https://"))
    plain = re.sub(VARIABLE, "", path) if address else path
    if any(character in "{}" or not character.isprintable() for character in plain):
        raise ValueError("braces and control characters in a path are not supported; rename the file")
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise ValueError(f"longer than {LONGEST_PATH} bytes")
    if "://" in path and not address:
        raise ValueError("expected a path, or an address that begins with http:// or https://")
    if address:
        _refuse_secrets(path)
    return path


def _refuse_secrets(address: str) -> None:
    try:
        parts = urlsplit(address)
        keys = {key.lower() for key, value in parse_qsl(parts.query) if not re.search(VARIABLE, value)}
    except ValueError:
        raise ValueError("expected an address such as https://example.org/data.csv") from None
    user = parts.netloc.rpartition("@")[0]
    if keys & SECRET_KEYS or (user and not re.search(VARIABLE, user)):
        raise ValueError(
            "passwords and tokens do not belong in a config, which is logged and copied; write ${NAME} instead "
            "and set the environment variable NAME"
        )


def _printable(text: str) -> str:
    if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in text if sign not in "\t\n"):
        raise ValueError("control characters and halves of characters are not supported")
    return text


Name = Annotated[str, StringConstraints(pattern=NAME, max_length=100), AfterValidator(_no_reserved_name)]
Location = Annotated[str, StringConstraints(min_length=1), AfterValidator(_plain_path)]
Text = Annotated[str, AfterValidator(_printable)]
Positive = Annotated[int, Field(ge=1)]
AtLeastZero = Annotated[float, Field(ge=0)]
AboveZero = Annotated[float, Field(gt=0)]
Frequency = Positive | Annotated[float, Field(gt=0, le=1)]


class Section(BaseModel):
    """A mapping of the config file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _as_written_in_yaml(cls, value: Any, info: ValidationInfo) -> Any:
        """``--config`` and YAML's ``1e-2`` give texts where numbers are meant; ``true`` is no number."""
        annotation = str(cls.model_fields[str(info.field_name)].annotation)
        if isinstance(value, str) and not ("str" in annotation or "Literal" in annotation):
            return _scalar(value)
        if isinstance(value, bool) and "bool" not in annotation:
            raise ValueError(f"found {str(value).lower()}")
        return value


def _scalar(text: str) -> Any:
    try:
        return float(text) if "e" in text.lower() else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError):
        return text


AnySection = TypeVar("AnySection", bound=Section)


class Source(Section):
    """Where a dataset comes from."""

    source: Literal["builtin", "catalogue"] | None = Field(
        None, description="builtin: made on this machine; catalogue: downloaded, see config/datasets.yaml"
    )
    name: Name | None = Field(None, description="name in the catalogue, where it is not the key of this entry")
    format: Literal["xmc-text", "svmlight", "text-tsv", "jsonl", "csv", "parquet", "npz"] | None = Field(
        None, description="format of one's own files; .gz .bz2 .xz .zst are read as they are"
    )
    train: Location | None = Field(None, description="training file: path or http(s) address")
    test: Location | None = Field(None, description="test file; without one, a share of the training file is split off")
    labels: Location | None = Field(None, description="label names, one a line in id order")
    train_labels: Location | None = Field(None, description="npz: labels of the training file")
    test_labels: Location | None = Field(None, description="npz: labels of the test file")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.source is None and (self.format is None or self.train is None):
            raise ValueError("needs either source (builtin or catalogue) or both format and train")
        own = [key for key in ("format", *ROLES) if getattr(self, key) is not None]
        if self.source is not None and own:
            raise ValueError(f"source: {self.source} excludes {', '.join(own)}")
        return self

    @model_validator(mode="after")
    def _labels_of_matrices(self) -> Self:
        for role in ("train", "test"):
            given = getattr(self, f"{role}_labels") is not None
            if given != (self.format == "npz" and getattr(self, role) is not None):
                raise ValueError(f"{role}_labels goes with format: npz and {role}, which needs it")
        return self


class Prepare(Section):
    """From raw files to dataset.h5."""

    tfidf: Literal["auto"] | bool = Field(
        "auto", description="weight features by tf-idf; auto: texts yes, ready-made features no"
    )
    min_df: Frequency = Field(
        2, description="drop terms that fewer training texts contain; a number of texts or, with a point, a share"
    )
    max_df: Frequency = Field(
        0.5, description="drop terms that more training texts contain; a number of texts or, with a point, a share"
    )
    max_features: Positive | None = Field(None, description="keep only the most frequent terms; null: all")
    sublinear: bool = Field(True, description="ln(1 + count) instead of the count of a term in a text")
    normalize: bool = Field(True, description="scale each instance to length 1")
    bias: float = Field(1.0, ge=0, description="value of the bias feature appended to each instance; 0: none")
    test_fraction: float = Field(0.2, gt=0, lt=1, description="share of instances for testing, without a test file")
    seed: int = Field(0, ge=0, description="of the split, without a test file")
    text_column: Text = Field(
        "text", min_length=1, description="csv, jsonl, parquet: column of the text, or several: title,abstract"
    )
    labels_column: Text = Field("labels", min_length=1, description="csv, jsonl, parquet: column of the labels")
    label_separator: Text = Field(",", min_length=1, description="texts: what stands between two labels")


class Train(Section):
    """From a dataset to a model."""

    C: float = Field(1.0, gt=0, description="weight of the loss against the regularisation")
    loss: Literal["squared-hinge", "logistic"] = Field(
        "squared-hinge", description="loss of an instance; logistic needs a larger C, 10 to 100"
    )
    regularization: Literal["l2", "l1"] = Field(
        "l2", description="what keeps weights small: their sum of squares; l1: of sizes, which leaves few of each label"
    )
    weighting: Literal["none", "propensity"] = Field(
        "none", description="weight of positives; propensity: more on rare labels, which annotators leave out most"
    )
    epsilon: float = Field(0.01, gt=0, le=100, description="relative gradient norm at which the solver stops")
    prune: float = Field(0.01, ge=0, description="weights smaller than this are dropped; larger: smaller model")
    shards: int = Field(8, ge=1, le=100_000, description="number of jobs that the labels of a run are divided into")
    threads: Positive = Field(1, description="threads of each of these jobs; changes no result")
    s: float = Field(1.0, description="mean-separating start: score of the mean of the positives")
    t: float | None = Field(
        None,
        description="mean-separating start: score of the mean of the negatives; null: -2, with the logistic loss -3",
    )
    bias_lambda: float = Field(2.0, gt=0, description="bias start: every score, negated")
    root_epsilon: float = Field(
        0.01,
        gt=0,
        lt=1,
        description="all-negative and label-tree starts: relative gradient norm at which the root is stopped early",
    )
    retrain: Literal["all", "changed", "new"] = Field(
        "all",
        description="pretrained start: labels that are trained, the others keep the earlier model's weights; "
        "changed: those with another number of positives; new: those that it lacks",
    )
    trace: int = Field(
        0, ge=0, description="labels of which every Newton iteration is recorded for the report; 0: none"
    )

    @property
    def negative_score(self) -> float:
        """``t``, or what it is by default under this loss."""
        return NEGATIVE_SCORE[self.loss] if self.t is None else self.t


class Trees(Section):
    """How FastXML grows its trees."""

    trees: int = Field(50, ge=1, le=100_000, description="trees of a model; half as many cost little quality")
    max_leaf: Positive = Field(10, description="nodes of at most so many instances are not split")
    leaf_labels: Positive = Field(20, description="labels of a leaf whose scores are kept")
    C_delta: float = Field(1.0, gt=0, description="weight of the separators' losses; larger: less sparse separators")
    C_r: float = Field(1.0, gt=0, description="weight of the rankings; felt only with several updates")
    balanced: bool = Field(True, description="C_delta of each side is divided by its share of the node's instances")
    objective: Literal["nDCG", "nDCG@5", "P@5"] = Field("nDCG", description="what the sides of a node are chosen by")
    updates: Positive = Field(1, description="separators fitted in turn with the sides, in each node")
    outer_iterations: Positive = Field(10, description="Newton steps of a separator at most")
    inner_iterations: Positive = Field(10, description="passes over the features in a Newton step at most")
    seed: int = Field(0, ge=0, lt=2**63, description="of the whole forest")


class Embedding(Section):
    """How Rembrandt embeds and decodes labels."""

    rank: Positive = Field(100, description="dimensions that labels are embedded in; more: better and slower")
    embedding: Literal["rembrandt", "compressed-sensing", "pca", "plst", "none"] = Field(
        "rembrandt",
        description="rembrandt, or what the paper compares: random, of the features, of the labels alone, none",
    )
    oversampling: int = Field(20, ge=0, description="dimensions more while the embedding is computed")
    passes: Positive = Field(1, description="subspace iterations of the embedding")
    ridge: AtLeastZero | Annotated[list[AtLeastZero], Field(min_length=1)] = Field(
        1.0, description="regularisation of the least-squares fits; of a list, the best on held-out instances"
    )
    decoder: Literal["auto", "softmax", "logistic"] = Field(
        "auto", description="softmax where every instance has one label, otherwise a logistic loss for each label"
    )
    decoder_C: AboveZero | Annotated[list[AboveZero], Field(min_length=1)] | None = Field(
        None,
        description="weight of the losses; of a list, the best on held-out instances; null: 1, kernels 30, softmax 500",
    )
    decoder_epsilon: float = Field(
        0.1, gt=0, le=100, description="logistic decoder: relative gradient norm at which the solver stops"
    )
    held_out: float = Field(
        0.1, ge=0, lt=1, description="share of the instances that tell the best C, and when softmax stops; 0: solved"
    )
    features: Literal["linear", "gaussian", "laplacian"] = Field(
        "linear", description="of the decoder; gaussian and laplacian: random cosine features of that kernel"
    )
    random_features: Positive = Field(4000, description="their number")
    bandwidth: float | None = Field(None, gt=0, description="of the kernel; null: chosen on held-out instances")
    seed: int = Field(0, ge=0, lt=2**63, description="of all random draws")

    @model_validator(mode="after")
    def _instances_to_choose_on(self) -> Self:
        if isinstance(self.decoder_C, list) and len(self.decoder_C) > 1 and not self.held_out:
            raise ValueError("decoder_C: several are chosen from on held-out instances, and held_out is 0")
        return self

    @property
    def decoder_candidates(self) -> tuple[float, ...]:
        """Values of the decoder's C; none where the decoder has its own."""
        return _several(self.decoder_C)

    @property
    def ridges(self) -> tuple[float, ...]:
        """Values of the ridge."""
        return _several(self.ridge)


def _several(value: float | list[float] | None) -> tuple[float, ...]:
    if value is None:
        return ()
    return tuple(dict.fromkeys(value)) if isinstance(value, list) else (value,)


class Predict(Section):
    """From a model to predictions."""

    top_k: Positive = Field(5, description="labels predicted for each instance")
    calibrate: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="share of the training instances held out for probabilities and thresholds; 0: no calibration",
    )


class Evaluate(Section):
    """From predictions to metrics."""

    propensity_a: float = Field(0.55, gt=0, description="A of Jain et al. 2016; 0.5 for Wikipedia, 0.6 for Amazon data")
    propensity_b: float = Field(1.5, ge=0, description="B of Jain et al. 2016; 0.4 for Wikipedia, 2.6 for Amazon data")


class Report(Section):
    """The page at the end."""

    examples: int = Field(10, ge=0, description="test documents shown with predicted and true labels")
    prune_thresholds: list[Annotated[float, Field(gt=0)]] = Field(
        [0.05, 0.1, 0.2, 0.3, 0.5], description="quality and size of the models pruned further; []: not measured"
    )
    intended_use: str | None = Field(None, description="what the models are for; stated on the model card")
    licence: str | None = Field(None, description="of the models; stated on the model card")
    watts_per_core: float = Field(10.0, ge=0, description="power of a busy core, for the model card's energy")
    grams_per_kwh: float | None = Field(None, ge=0, description="CO2 of the electricity; null: left out")


class Sweep(Section):
    """Values of a setting; each becomes a run of its own."""

    C: list[Annotated[float, Field(gt=0)]] = Field(min_length=1, description="values of C, in any order")

    @field_validator("C", mode="before")
    @classmethod
    def _numbers(cls, values: Any) -> Any:
        if isinstance(values, list) and any(isinstance(value, bool) for value in values):
            raise ValueError("true and false are no numbers")
        return values

    @field_validator("C")
    @classmethod
    def _each_once(cls, values: list[float]) -> list[float]:
        for value in values:
            if values.count(value) > 1:
                raise ValueError(f"{value:g} stands in it twice")
        return values


class Method(Section):
    """How a run trains."""

    method: Literal["one-vs-all", "fastxml", "rembrandt"] = Field("one-vs-all", description="family of models")
    initialization: Literal["zero", "bias", "all-negative", "label-tree", "mean-separating", "pretrained"] = Field(
        "mean-separating", description="starting point"
    )
    pretrained: Location | None = Field(
        None, description="with initialization: pretrained: another run of this config, or a path of a model.h5"
    )
    sweep: Sweep | None = Field(None, description="becomes one run a value, each trained from its neighbour's weights")

    @model_validator(mode="after")
    def _start_from_a_model(self) -> Self:
        if (self.initialization == "pretrained") != (self.pretrained is not None):
            raise ValueError("initialization: pretrained and pretrained: (a run or a path) need each other")
        if self.pretrained is not None and "://" in self.pretrained:
            raise ValueError("pretrained: expected a run or a path, not an address")
        return self


class Dataset(Evaluate, Prepare, Source):
    """A dataset: its source, and what it sets otherwise than ``prepare`` and ``evaluate`` do."""


_SOLVED = frozenset({**Train.model_fields, **Method.model_fields}) - {"method", "shards", "threads"}
_GROWN, _EMBEDDED = frozenset(Trees.model_fields), frozenset(Embedding.model_fields)

FOREIGN = {
    "one-vs-all": _GROWN | _EMBEDDED,
    "fastxml": (_SOLVED | _EMBEDDED) - _GROWN - {"weighting"},
    "rembrandt": (_SOLVED | _GROWN) - _EMBEDDED,
}
"""Keys of a run that mean nothing to its method."""


class Run(Predict, Train, Trees, Embedding, Method):
    """A run: its method, and what it sets otherwise than ``train``, ``fastxml``, ``rembrandt`` and ``predict`` do."""

    @model_validator(mode="after")
    def _keys_of_its_method(self) -> Self:
        foreign = sorted(self.model_fields_set & FOREIGN[self.method])
        if foreign:
            raise ValueError(f"{foreign[0]} is no setting of method: {self.method}")
        return self

    @model_validator(mode="after")
    def _one_C(self) -> Self:
        if self.sweep is not None and "C" in self.model_fields_set:
            raise ValueError("C and sweep.C exclude each other")
        return self


class SweptRun(Run):
    """One value of a sweep; made by :func:`ovaflow.configuration.chains.expand_sweeps`, never in a config file."""

    of: str = Field(description="name of the sweep")
    cold_start: str = Field(description="what the steps saved are counted against")


class Settings(Section):
    """A whole config file, defaults filled in."""

    model_config = ConfigDict(title="ovaflow config file")

    datasets: dict[Name, Dataset] = Field(min_length=1, description="each becomes a folder of results")
    runs: dict[Name, Run] = Field(min_length=1, description="each is trained on every dataset")
    prepare: Prepare = Field(default_factory=Prepare, description="defaults of all datasets")
    train: Train = Field(default_factory=Train, description="defaults of all runs")
    fastxml: Trees = Field(default_factory=Trees, description="defaults of all runs with method: fastxml")
    rembrandt: Embedding = Field(default_factory=Embedding, description="defaults of all runs with method: rembrandt")
    predict: Predict = Field(default_factory=Predict, description="defaults of all runs")
    evaluate: Evaluate = Field(default_factory=Evaluate, description="defaults of all datasets")
    report: Report = Field(default_factory=Report, description="the report page")

    @model_validator(mode="after")
    def _starts_separate(self) -> Self:
        for name in self.runs:
            train = self.train_of(name)
            if not train.negative_score < train.s:
                raise ValueError(f"runs.{name}: t ({train.negative_score}) must be below s ({train.s})")
        return self

    @model_validator(mode="after")
    def _bias_to_start_on(self) -> Self:
        for name, run in self.runs.items():
            without = [dataset for dataset in self.datasets if not self.prepare_of(dataset).bias]
            if run.initialization == "bias" and without:
                raise ValueError(f"runs.{name}: the bias start needs a bias feature, and {without[0]} has bias: 0")
        return self

    @model_validator(mode="after")
    def _newton_is_traced(self) -> Self:
        for name in self.runs:
            train = self.train_of(name)
            if train.trace and train.regularization == "l1":
                raise ValueError(f"runs.{name}: trace follows Newton's method, which regularization: l1 does not use")
        return self

    @model_validator(mode="after")
    def _kept_weights_fit(self) -> Self:
        for name, run in self.runs.items():
            if run.method != "one-vs-all" or self.train_of(name).retrain == "all":
                continue
            if run.sweep is not None:
                raise ValueError(f"runs.{name}: retrain keeps weights of one C, sweep changes it")
            if run.pretrained is not None and self.predict_of(name).calibrate:
                raise ValueError(
                    f"runs.{name}: calibrate needs retrain: all, weights that are kept may have seen what is held out"
                )
        return self

    @model_validator(mode="after")
    def _some_terms_left(self) -> Self:
        for name in self.datasets:
            prepare = self.prepare_of(name)
            fewest, most = prepare.min_df, prepare.max_df
            if type(fewest) is type(most) and fewest > most:
                raise ValueError(f"datasets.{name}: min_df ({fewest}) must not be above max_df ({most})")
        return self

    def prepare_of(self, dataset: str) -> Prepare:
        """Prepare settings of a dataset, its own keys first."""
        return _overridden(self.prepare, self.datasets[dataset])

    def evaluate_of(self, dataset: str) -> Evaluate:
        """Evaluate settings of a dataset, or of what is held out of it; its own keys first."""
        return _overridden(self.evaluate, self.datasets[dataset.split("/")[0]])

    def train_of(self, run: str) -> Train:
        """Train settings of a run, its own keys first."""
        return _overridden(self.train, self.runs[run])

    def trees_of(self, run: str) -> Trees:
        """FastXML settings of a run, its own keys first."""
        return _overridden(self.fastxml, self.runs[run])

    def embedding_of(self, run: str) -> Embedding:
        """Rembrandt settings of a run, its own keys first."""
        return _overridden(self.rembrandt, self.runs[run])

    def runs_of(self, method: str) -> list[str]:
        """Names of the runs of a method."""
        return [name for name, run in self.runs.items() if run.method == method]

    def predict_of(self, run: str) -> Predict:
        """Predict settings of a run, its own keys first."""
        return _overridden(self.predict, self.runs[run])


def _overridden(section: AnySection, entry: Section) -> AnySection:
    fields = type(section).model_fields
    own = {key: getattr(entry, key) for key in entry.model_fields_set if key in fields}
    return type(section).model_validate(section.model_dump() | own)
