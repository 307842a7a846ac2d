"""Interface of a kind of evidence."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import h5py
import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.features.tokens import Tokens
from ovaflow.model.model_file import Model
from ovaflow.reranking.candidates import Candidates, PreparedTexts
from ovaflow.sparse.csr import CSR
from ovaflow.storage.artifact import load_fields, stored_names


class EvidenceTraining(NamedTuple):
    """Training texts that evidence is taken from."""

    dataset: Dataset  # its training part has the texts, then names of labels
    full_dataset: Dataset  # the same with the texts that were held out of it
    likelihood: tuple[float, float]  # slope and intercept of the log-odds of a label over its score
    first_stage: Model | None = None  # the model of the dataset; None where it is not available


class ExplainedText(NamedTuple):
    """A text whose candidates are explained to people."""

    candidates: Candidates  # of this text alone, as the trees get them
    words: set[str]
    word_kind: str
    label_names: Sequence[str]  # the names that are looked for in the text
    shown_name: Callable[[int], str]  # name of a label in the language of the reader


class Wording(NamedTuple):
    """Words by which a kind of evidence is explained; in English each reason has its own text."""

    position: int  # among the reasons for a candidate
    # sentences in the other languages of the service's page, with numbers of a reason in braces
    translations: Mapping[str, str]
    numbers: Mapping[str, tuple[Any, str]]  # types and descriptions of the numbers of a reason
    superseded_by: str = ""  # name of the kind whose reason says more


class Evidence(ABC):
    """A kind of evidence about a text and a candidate: columns of numbers, and reasons in words.

    A kind is a frozen dataclass. Its fields are stored in reranker.h5 by their names, next to those
    of all other kinds, except those with the metadata
    :data:`~ovaflow.storage.artifact.NOT_STORED`. So no other kind may have a field of the same
    name.
    """

    name: str
    column_names: tuple[str, ...]
    """Names of the columns; they are stored in reranker.h5."""

    optional: bool = False
    """True if it is left out where the log loss of held-out texts is not lower with it."""

    directions: ClassVar[Mapping[str, int]] = {}
    """Columns that trees which keep the order of the scores may use.

    They rise (1) or fall (-1) with the score, or are the same for all candidates (0).
    """

    wording: Wording | None = None
    """None where the evidence is no reason that people understand."""

    @classmethod
    def fit(cls, training: EvidenceTraining) -> Self | None:
        """Take the evidence from training texts; return None where they have none of this kind."""
        return cls()

    def refit(self, training: EvidenceTraining) -> Self | None:
        """Take the evidence from more training texts."""
        return self.fit(training)

    @classmethod
    def is_stored_in(cls, file: h5py.File) -> bool:
        """Tell whether the file of a second stage has all fields of this kind."""
        return all(name in file for name in stored_names(cls))

    @classmethod
    def load(cls, file: h5py.File, model: Model) -> Self:
        """Load the evidence from the file of a model's second stage."""
        return cls(**load_fields(file, cls))

    @property
    def n_features(self) -> int:
        """Number of features of texts that only this kind reads; see :meth:`make_features`."""
        return 0

    def make_features(self, tokens: Tokens | None) -> CSR | None:
        """Make the features of texts that only this kind reads; return None where it reads none."""
        return None

    def knows_word(self, word: str) -> bool:
        """Return whether a word is known by the features that only this kind reads."""
        return False

    def look_up(self, texts: PreparedTexts) -> Any:
        """Find what does not depend on the candidates; :attr:`PreparedTexts.lookups` keeps it."""
        return None

    def suggest_candidates(self, texts: PreparedTexts) -> np.ndarray | None:
        """Suggest further candidates: int32 (n, m), -1 where a text has fewer."""
        return None

    @abstractmethod
    def compute(self, candidates: Candidates) -> Sequence[np.ndarray]:
        """Compute the columns of :attr:`column_names`, finite numbers, in their order.

        Each is (n, k), or (n, 1) where all candidates of a text have the same value, or (1, k)
        where all texts have. Where a text has fewer candidates, ``ids`` has -1: the value there
        does not matter.
        """

    def give_reasons(self, text: ExplainedText) -> Sequence[dict[str, Any] | None]:
        """Give the reason for each candidate of a text: ``text`` in English, and numbers.

        A candidate that the evidence does not speak for has None. Where ``ids`` has -1, the reason
        does not matter.
        """
        return [None] * text.candidates.ids.shape[1]
