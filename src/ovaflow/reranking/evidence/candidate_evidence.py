"""All evidence about the candidates of texts: a row of numbers for each text and candidate."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np

from ovaflow.features.normalize import copy_unit_rows
from ovaflow.features.tokens import Tokens
from ovaflow.model.model_file import Model
from ovaflow.reranking.candidates import Candidates, Texts, append_candidates
from ovaflow.reranking.evidence.kind import Evidence, EvidenceTraining
from ovaflow.reranking.evidence.kinds import KINDS, columns_of_kinds, with_optional
from ovaflow.reranking.evidence.suggested import SuggestedBySource
from ovaflow.reranking.suggestions import Suggestions, SuggestionSource
from ovaflow.sparse.csr import CSR, select_columns, stack_columns

Kind = TypeVar("Kind", bound=Evidence)


@dataclass(frozen=True)
class CandidateEvidence:
    """Kinds of evidence, in the order of their columns."""

    kinds: list[Evidence]
    n_word_features: int  # of texts, the first ones

    @classmethod
    def fit(cls, training: EvidenceTraining, kinds: Iterable[type[Evidence]] | None = None) -> Self:
        """Take evidence from training texts: all kinds that these have, or some."""
        fitted = [kind.fit(training) for kind in (KINDS if kinds is None else kinds)]
        return cls([kind for kind in fitted if kind is not None], training.dataset.n_word_features)

    def refit(self, training: EvidenceTraining) -> Self:
        """Take the same kinds of evidence from more training texts."""
        refitted = [kind.refit(training) for kind in self.kinds]
        return replace(self, kinds=[kind for kind in refitted if kind is not None])

    def with_optional(self, names: Collection[str]) -> Self:
        """The same with some of the optional kinds, by their names."""
        return replace(self, kinds=with_optional(self.kinds, names))

    def with_sources(self, sources: Iterable[SuggestionSource]) -> Self:
        """Add the suggestions of other programs, which come last."""
        return replace(self, kinds=[*self.kinds, *map(SuggestedBySource.of, sources)])

    def get(self, kind: type[Kind]) -> Kind:
        """Return the evidence of a kind."""
        return next(each for each in self.kinds if isinstance(each, kind))

    @property
    def columns(self) -> list[str]:
        return columns_of_kinds(self.kinds)

    @property
    def n_features(self) -> int:
        """Number of features of texts that the evidence alone reads."""
        return sum(kind.n_features for kind in self.kinds)

    def with_own_features(self, X: CSR, tokens: Tokens | None) -> CSR:
        """Append the features of texts that the evidence alone reads, which their tokens have."""
        for kind in self.kinds:
            if kind.n_features:
                X = stack_columns(X, kind.features_of(tokens))
        return X

    def split_features(self, X: CSR) -> tuple[CSR, dict[str, CSR]]:
        """Split what :meth:`with_own_features` appended: features of the model, and those of kinds
        by name.
        """
        own = {}
        start = X.n_columns - self.n_features
        for kind in self.kinds:
            if kind.n_features:
                own[kind.name] = select_columns(X, start, start + kind.n_features)
                start += kind.n_features
        return select_columns(X, 0, X.n_columns - self.n_features) if own else X, own

    def texts(
        self,
        X: CSR,
        first_stage: Model | None,
        threads: int = 1,
        suggestions: Mapping[str, Suggestions] | None = None,
    ) -> Texts:
        """Look up in texts what does not depend on their candidates; all sources have
        ``suggestions``, by name.
        """
        features, own = self.split_features(X)
        words = copy_unit_rows(features, self.n_word_features)
        texts = Texts(features, words, own, first_stage, threads, suggestions or {})
        for kind in self.kinds:
            texts.found[kind.name] = kind.look_up(texts)
        return texts

    def candidates(self, texts: Texts, ids: np.ndarray, scores: np.ndarray) -> Candidates:
        """Candidates of texts: the best by score, which are given, and those that evidence
        suggests.
        """
        suggested = [kind.suggest_candidates(texts) for kind in self.kinds]
        ids, scores = append_candidates(
            ids, scores, [each for each in suggested if each is not None]
        )
        return Candidates(texts, ids, scores, np.arange(ids.shape[1]))

    def compute(self, candidates: Candidates) -> np.ndarray:
        """Compute rows of evidence for candidates (n, k): float32 (n, k, c), as :attr:`columns`
        names them.
        """
        rows = np.empty((*candidates.ids.shape, len(self.columns)), np.float32)
        number = 0
        for kind in self.kinds:
            for column in kind.compute(candidates):
                rows[:, :, number] = column
                number += 1
        return rows
