"""Evidence of a dataset without the optional kinds."""

from ovaflow.reranking.evidence.candidate_evidence import CandidateEvidence
from ovaflow.reranking.evidence.kind import EvidenceTraining
from ovaflow.reranking.evidence.kinds import KINDS, list_column_names, select_kinds

PLAIN_KINDS = select_kinds(KINDS, [])
PLAIN_COLUMNS = list_column_names(PLAIN_KINDS)


def fit_plain_evidence(dataset, likelihood=(1.0, 0.0)) -> CandidateEvidence:
    """Fit the evidence of a dataset."""
    return CandidateEvidence.fit(EvidenceTraining(dataset, dataset, likelihood), PLAIN_KINDS)
