"""What a kind of evidence is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import h5py
import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.features.tokens import Tokens
from ovaflow.model.model_file import Model
from ovaflow.reranking.candidates import Candidates, Texts
from ovaflow.sparse.csr import CSR
from ovaflow.storage.artifact import load_fields, stored_names


class EvidenceTraining(NamedTuple):
    """What evidence is taken from."""

    dataset: Dataset
    whole: Dataset  # the dataset, with the texts that were held out of it
    likelihood: tuple[
        float, float
    ]  # slope and intercept of the log-odds of a label over its score alone
    first_stage: Model | None = None  # the model of the dataset; None where it is not known


class ExplainedText(NamedTuple):
    """A text whose candidates are explained to people."""

    candidates: Candidates  # of this text alone, by falling probability
    words: set[str]
    label_names: Sequence[str]  # those that were looked for
    shown_name: Callable[[int], str]  # of a label, in the language of the reader


class Wording(NamedTuple):
    """What people are told of a kind of evidence; in English each reason has a text of its own."""

    place: int  # among the reasons for a candidate
    # sentences in the other languages of the service's page, with numbers of a reason in braces
    translations: Mapping[str, str]
    numbers: Mapping[str, tuple[Any, str]]  # of a reason: types and descriptions
    without: str = ""  # name of the kind whose reason says more


class Evidence(ABC):
    """A kind of evidence: what it says of a text and a candidate, in columns of numbers and in
    words.

    A kind is a frozen dataclass. Its fields are stored in reranker.h5, next to those of all other
    kinds; those of metadata :data:`~ovaflow.storage.artifact.NOT_STORED` are not.
    """

    name: str
    columns: tuple[str, ...]

    optional: bool = False
    """Whether it is left out where held-out texts are not ranked better with it."""

    directions: ClassVar[Mapping[str, int]] = {}
    """Columns that trees may use that keep the order of the scores.

    They rise (1) or fall (-1) with the score, or are the same for all candidates (0).
    """

    words: Wording | None = None
    """None where it is no reason that people understand."""

    @classmethod
    def fit(cls, training: EvidenceTraining) -> Self | None:
        """Take the evidence from training texts; None where they have none of this kind."""
        return cls()

    def refit(self, training: EvidenceTraining) -> Self | None:
        """Take the evidence from more training texts."""
        return self.fit(training)

    @classmethod
    def is_stored_in(cls, file: h5py.File) -> bool:
        """Whether the file of a second stage has all that this kind stores."""
        return all(name in file for name in stored_names(cls))

    @classmethod
    def load(cls, file: h5py.File, model: Model) -> Self:
        """Load the evidence from the file of a model's second stage."""
        return cls(**load_fields(file, cls))

    @property
    def n_features(self) -> int:
        """Number of features of texts that this kind alone reads; :meth:`features_of` makes them."""
        return 0

    def features_of(self, tokens: Tokens | None) -> CSR | None:
        """Make the features of texts that this kind alone reads; None where it reads none."""
        return None

    def look_up(self, texts: Texts) -> Any:
        """Find what does not depend on the candidates; :attr:`Texts.found` keeps it."""
        return None

    def suggest_candidates(self, texts: Texts) -> np.ndarray | None:
        """Suggest further candidates: int32 (n, m), -1 where a text has fewer."""
        return None

    @abstractmethod
    def compute(self, candidates: Candidates) -> Sequence[np.ndarray]:
        """Compute its columns, in their order: each (n, k), or (n, 1) where all candidates have the
        same.
        """

    def reasons(self, text: ExplainedText) -> Sequence[dict[str, Any] | None]:
        """Say what speaks for each candidate of a text: ``text`` in English, and numbers; None
        where nothing does.
        """
        return [None] * text.candidates.ids.shape[1]
