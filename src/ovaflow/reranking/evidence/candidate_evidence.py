"""All evidence about the candidates of texts: a row of numbers for each text and candidate."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np

from ovaflow.features.normalize import copy_unit_rows
from ovaflow.features.tokens import Tokens
from ovaflow.model.model_file import Model
from ovaflow.reranking.candidates import Candidates, PreparedTexts, append_candidates
from ovaflow.reranking.evidence.kind import Evidence, EvidenceTraining
from ovaflow.reranking.evidence.kinds import KINDS, list_column_names, select_kinds
from ovaflow.reranking.evidence.suggested import SuggestedBySource
from ovaflow.reranking.suggestions import Suggestions, SuggestionSource
from ovaflow.sparse.csr import CSR, select_columns, stack_columns

Kind = TypeVar("Kind", bound=Evidence)


@dataclass(frozen=True)
class CandidateEvidence:
    """Kinds of evidence, in the order of their columns."""

    kinds: list[Evidence]
    n_text_features: int  # number of the first features of texts, which are made of words

    @classmethod
    def fit(cls, training: EvidenceTraining, kinds: Iterable[type[Evidence]] | None = None) -> Self:
        """Take evidence from training texts: all kinds that these have, or some."""
        fitted = [kind.fit(training) for kind in (KINDS if kinds is None else kinds)]
        available = [kind for kind in fitted if kind is not None]
        return cls(available, training.dataset.n_text_features)

    def refit(self, training: EvidenceTraining) -> Self:
        """Take the same kinds of evidence from more training texts."""
        refitted = [kind.refit(training) for kind in self.kinds]
        return replace(self, kinds=[kind for kind in refitted if kind is not None])

    def with_optional(self, names: Collection[str]) -> Self:
        """Keep only these of the optional kinds, by their names."""
        return replace(self, kinds=select_kinds(self.kinds, names))

    def with_sources(self, sources: Iterable[SuggestionSource]) -> Self:
        """Add the suggestions of other programs, which come last."""
        added = [SuggestedBySource.from_source(source) for source in sources]
        return replace(self, kinds=[*self.kinds, *added])

    def get(self, kind: type[Kind]) -> Kind:
        """Return the evidence of a kind."""
        return next(each for each in self.kinds if isinstance(each, kind))

    @property
    def column_names(self) -> list[str]:
        """Names of all columns."""
        return list_column_names(self.kinds)

    @property
    def n_features(self) -> int:
        """Number of features of texts that only evidence reads."""
        return sum(kind.n_features for kind in self.kinds)

    def with_own_features(self, X: CSR, tokens: Tokens | None) -> CSR:
        """Append the features of texts that only evidence reads, made of the texts' tokens."""
        for kind in self.kinds:
            if kind.n_features:
                features = kind.make_features(tokens)
                assert features is not None
                X = stack_columns(X, features)
        return X

    def knows_word(self, word: str) -> bool:
        """Return whether a kind knows a word by its own features."""
        return any(kind.knows_word(word) for kind in self.kinds)

    def split_features(self, X: CSR) -> tuple[CSR, dict[str, CSR]]:
        """Undo :meth:`with_own_features`.

        Returns the features of the model, and those that only evidence reads, by kind.
        """
        n_model_features = X.n_columns - self.n_features
        if n_model_features == X.n_columns:
            return X, {}
        own_features = {}
        start = n_model_features
        for kind in self.kinds:
            if kind.n_features:
                own_features[kind.name] = select_columns(X, start, start + kind.n_features)
                start += kind.n_features
        return select_columns(X, 0, n_model_features), own_features

    def prepare_texts(
        self,
        X: CSR,
        first_stage: Model | None,
        threads: int = 1,
        suggestions: Mapping[str, Suggestions] | None = None,
    ) -> PreparedTexts:
        """Look up in texts what does not depend on their candidates.

        Parameters
        ----------
        X : CSR
            Features of the texts, with those of :meth:`with_own_features`.
        first_stage : Model, optional
            None where no evidence needs it.
        threads : int
        suggestions : mapping
            Suggestions of each source by its name; none may be missing.
        """
        features, own_features = self.split_features(X)
        text_features = copy_unit_rows(features, self.n_text_features)
        texts = PreparedTexts(
            features, text_features, own_features, first_stage, threads, suggestions or {}
        )
        for kind in self.kinds:
            texts.lookups[kind.name] = kind.look_up(texts)
        return texts

    def find_candidates(
        self, texts: PreparedTexts, ids: np.ndarray, scores: np.ndarray
    ) -> Candidates:
        """Add the candidates that evidence suggests to the best by score (n, k)."""
        lists = []
        for kind in self.kinds:
            suggested = kind.suggest_candidates(texts)
            if suggested is not None:
                lists.append(suggested)
        ids, scores = append_candidates(ids, scores, lists)
        return Candidates(texts, ids, scores, np.arange(ids.shape[1]))

    def compute(self, candidates: Candidates) -> np.ndarray:
        """Compute the evidence about candidates (n, k): float32 (n, k, c), c columns."""
        evidence = np.empty((*candidates.ids.shape, len(self.column_names)), np.float32)
        number = 0
        for kind in self.kinds:
            for column in kind.compute(candidates):
                evidence[:, :, number] = column
                number += 1
        return evidence
