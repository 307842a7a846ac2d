"""Fit the second stage to held-out texts, whose candidates come from a model that has not seen
them.

Parts of these texts first check what the trees fitted to the others are worth.
"""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.reranking.choice_of_evidence import choose_evidence
from ovaflow.reranking.choice_of_order import choose_order
from ovaflow.reranking.cross_fitting import cross_fit
from ovaflow.reranking.evidence.candidate_evidence import CandidateEvidence
from ovaflow.reranking.evidence.kind import EvidenceTraining
from ovaflow.reranking.expected_quality import (
    CHECKED_PRECISIONS,
    compute_unfitting_share,
    measure_sure_records,
)
from ovaflow.reranking.held_out_texts import HeldOutTexts
from ovaflow.reranking.reranker_file import Reranker


def fit_reranker(
    model, dataset, held_out, predictions, threads=1, suggestions=None, held_out_model=None
) -> Reranker:
    """Fit a second stage for a model of ``dataset`` to predictions for the test instances of
    ``held_out``.

    ``suggestions`` for these instances, by their :class:`SuggestionSource`, are evidence. With the
    model that made the predictions its scores of the first words may be evidence, too.
    """
    texts = HeldOutTexts.of(held_out, predictions, suggestions or {}, held_out_model)
    parameters = _parameters(texts, held_out)
    inputs = _inputs(texts, model, held_out, predictions)
    if texts.obstacle:
        return Reranker(parameters=parameters | {"unused": texts.obstacle}, inputs=inputs)

    likelihood = texts.fit_likelihood()
    evidence = CandidateEvidence.fit(
        EvidenceTraining(held_out, dataset, likelihood, held_out_model)
    )
    evidence = evidence.with_sources(texts.suggestions)
    candidates = texts.with_candidates(evidence, threads)
    # texts of which sources say nothing, such as all those of the service, are ranked without these
    optional = choose_evidence(candidates.without_sources(), threads)
    candidates = candidates.with_optional(optional)

    complete = candidates.part(texts.complete)
    order = choose_order(complete, threads)
    missed = count_missed(candidates, texts.split.Y, mark_expected_labels(dataset, held_out))[
        texts.complete
    ]
    check = order.check | check_probabilities(order.crossed, missed)

    trees = order.fit_to_all(complete, order.crossed.n_trees)
    trees_alone = None
    if texts.suggestions:
        alone = candidates.without_sources()
        trees_alone = order.fit_to_all(alone, cross_fit(alone, order.fit).n_trees)
    parameters |= {"columns": candidates.column_names, "further": optional, "check": check}
    of_all = evidence.with_optional(optional).refit(
        EvidenceTraining(dataset, dataset, likelihood, model)
    )
    return Reranker(trees, trees_alone, evidence=of_all, parameters=parameters, inputs=inputs)


def _parameters(texts, held_out):
    parameters = {**held_out.parameters["held_out"], "texts": len(texts)}
    if texts.suggestions:
        parameters["sources"] = [source._asdict() for source in texts.suggestions]
    return parameters


def _inputs(texts, model, held_out, predictions):
    """Checksums of what the second stage is made from."""
    inputs = {
        "model": model.checksum,
        "held_out": held_out.checksum,
        "held_out_model": predictions.inputs["model"],
    }
    return inputs | {source.group: source.checksum for source in texts.suggestions}


def require_same_dataset(dataset, held_out, made) -> None:
    """Refuse a dataset, held-out instances, and predictions or a model ``made`` of them that do not
    belong together.
    """
    if held_out.parameters.get("held_out", {}).get("of") != dataset.checksum:
        remedy = "give the held-out dataset and the dataset of one run"
        raise InputError(f"was not held out of {dataset.path}", path=held_out.path, remedy=remedy)
    made.require(dataset=held_out)


def check_probabilities(crossed, missed):
    """What the probabilities of checked texts are worth, of all of which ``missed`` (n,) true
    labels are no candidates.

    ``missed``: their number for each text whose labels that fit leave out all that its candidates
    promise; ``sure``: what is right where answers seem to be.
    """
    probabilities, hits = crossed.ranked
    left_out = compute_unfitting_share(probabilities).sum()
    return {
        "texts": len(crossed.places),
        "log_loss": crossed.log_loss,
        "missed": float(missed[crossed.places].sum() / left_out) if left_out else 0.0,
        "sure": measure_sure_records(CHECKED_PRECISIONS, probabilities, hits),
    }


def count_missed(texts, true, expected):
    """Labels of each text that are no candidates, of those that are ``expected`` of new texts:
    (n,).
    """
    found = np.count_nonzero(texts.hits & expected[texts.ids], axis=1)
    return (true.to_scipy() > 0) @ expected.astype(np.int64) - found


def mark_expected_labels(dataset, held_out):
    """Which labels of held-out texts new texts may have, too: bool (l,).

    Those that only held-out texts have are known to the model in use; where one text alone has a
    label, and there are labels that no text has, it stands for these.
    """
    in_rest = held_out.counts
    in_all = dataset.counts
    return (in_rest > 0) | ((in_all == 1) & np.any(in_all == 0))
