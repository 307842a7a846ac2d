"""Fit the second stage to held-out texts, whose candidates come from a model that has not seen them.

Parts of these texts first check what the trees fitted to the others are worth.
"""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.candidates import hits_among, n_more
from ovaflow.reranking.choice_of_evidence import useful_kinds, with_kinds
from ovaflow.reranking.choice_of_order import choose_order
from ovaflow.reranking.cross_fitting import cross_fit
from ovaflow.reranking.evidence import BEGINNING, PIECES, CandidateEvidence, columns_with, groups_with
from ovaflow.reranking.expected_quality import LEVELS, share_left_out, sure_records
from ovaflow.reranking.first_words import columns_of_first_words
from ovaflow.reranking.held_out_candidates import HeldOut, spread
from ovaflow.reranking.name_pieces import NamePieces
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.suggestions import known_to_all
from ovaflow.settings.predict import CANDIDATES
from ovaflow.sparse.csr import rows_of

MOST = 20_000
"""Held-out texts that are used, evenly spread over all."""

FEWEST = 200
"""Held-out texts below which there is no second stage: 100 sometimes rank worse than the scores do."""


def fit_reranker(model, dataset, held_out, predictions, threads=1, suggestions=None, held_out_model=None):
    """Fit a second stage for a model of ``dataset`` to predictions for the test instances of ``held_out``.

    ``suggestions`` for these instances, by their :class:`SuggestionSource`, are evidence. With the model that made the
    predictions its scores of the first words may be evidence, too.
    """
    suggestions = suggestions or {}
    sources = tuple(suggestions)
    inputs = {"model": model.checksum, "held_out": held_out.checksum}
    inputs["held_out_model"] = predictions.inputs["model"]
    inputs |= {source.group: source.checksum for source in sources}
    about = {"inputs": inputs, "sources": sources}
    texts = spread(len(predictions.ids), MOST)
    parameters = {**held_out.parameters["held_out"], "texts": len(texts)}
    ids, scores = (array[texts, :CANDIDATES] for array in (predictions.ids, predictions.scores))
    true = rows_of(held_out.test.Y, texts)
    hits = hits_among(ids, true)
    suggested = [each.take(texts) for each in suggestions.values()]
    complete = known_to_all(suggested, len(texts))
    if reason := _obstacle(complete, hits, ids != NO_LABEL):
        return Reranker(parameters=parameters | {"unused": reason}, **about)
    likelihood = fit_likelihood(ids, scores, hits)
    split = held_out.test.take(texts)
    if split.X.places is None:
        held_out_model = None
    # the names are those of all training texts, and the weights of their pieces say nothing of held-out texts' labels
    pieces = NamePieces.of(dataset)
    evidence = CandidateEvidence.of(held_out, likelihood, pieces, held_out_model is not None)
    pairs = _held_out(evidence, split, (ids, scores), held_out_model, suggested, threads)
    kinds = evidence.further
    # as texts are of which files say nothing, all of the service among them
    further = useful_kinds(_without(suggested, pairs, columns_with(kinds)), kinds, threads)
    pairs = with_kinds(pairs, kinds, further, sources)
    parameters |= {"columns": columns_with(further, sources), "further": further}
    known = pairs.part(complete)
    fit, crossed, check = choose_order(known, parameters["columns"], groups_with(further, sources), threads)
    missed = count_missed(pairs, true, labels_expected(dataset, held_out))[complete]
    parameters["check"] = check | check_probabilities(crossed, missed)
    trees = fit(*known.candidates, n_trees=crossed.n_trees)
    trees_alone = None
    if suggested:
        alone = _without(suggested, pairs, columns_with(further))
        trees_alone = fit(*alone.candidates, n_trees=cross_fit(alone, fit).n_trees)
    evidence = CandidateEvidence.of(dataset, likelihood, pieces if PIECES in further else None, BEGINNING in further)
    return Reranker(trees, trees_alone, evidence=evidence, parameters=parameters, **about)


def _held_out(evidence, split, best, model, suggested, threads):
    """:class:`HeldOut` texts, of which the best labels by score are known, with all evidence.

    That of the first words by the model that scored them, where it is given.
    """
    X = evidence.with_pieces(split.X, split.tokens)
    candidates = evidence.candidates(X, *best, threads, suggested)
    ids = candidates.ids
    of_first_words = model and columns_of_first_words(model, model.instances(split), ids, threads)
    columns = evidence.columns(candidates, of_first_words, suggested)
    return HeldOut(columns, ids, hits_among(ids, split.Y), np.diff(split.Y.indptr))


def _without(suggested, pairs, columns):
    """Held-out texts without what files suggest, which comes last: only these columns are left."""
    alone = pairs.first(pairs.ids.shape[1] - n_more(suggested))
    return alone._replace(columns=alone.columns[:, :, : len(columns)])


def _obstacle(complete, hits, candidates):
    """Why no trees can be fitted; empty where they can."""
    if len(complete) < FEWEST:
        return f"{len(complete):,} instances were held out, it needs {FEWEST:,}"
    amount = int(complete.sum())
    if amount < FEWEST:
        return f"files suggest labels for {amount:,} of the held-out instances, it needs {FEWEST:,}"
    if len(np.unique(hits[complete][candidates[complete]])) < 2:
        return "the candidates of held-out instances are all wrong, or all right"
    return ""


def require_parts_of_one(dataset, held_out, made):
    """Refuse a dataset, held-out instances, and predictions or a model ``made`` of them that do not belong together."""
    if held_out.parameters.get("held_out", {}).get("of") != dataset.checksum:
        remedy = "give the held-out dataset and the dataset of one run"
        raise InputError(f"was not held out of {dataset.path}", path=held_out.path, remedy=remedy)
    made.require(dataset=held_out)


def fit_likelihood(ids, scores, hits):
    """Slope and intercept of the log-odds of a label over its score alone."""
    # loading scikit-learn takes a second, which a second stage of few instances does not need
    from sklearn.linear_model import LogisticRegression

    known = ids != NO_LABEL
    line = LogisticRegression().fit(scores[known].reshape(-1, 1), hits[known])
    return float(line.coef_[0, 0]), float(line.intercept_[0])


def check_probabilities(crossed, missed):
    """What the probabilities of checked texts are worth, of all of which ``missed`` (n,) true labels are no candidates.

    ``missed``: their number for each text whose labels that fit leave out all that its candidates promise;
    ``sure``: what is right where answers seem to be.
    """
    probabilities, hits = crossed.ranked
    left_out = share_left_out(probabilities).sum()
    return {
        "texts": len(crossed.places),
        "log_loss": crossed.log_loss,
        "missed": float(missed[crossed.places].sum() / left_out) if left_out else 0.0,
        "sure": sure_records(LEVELS, probabilities, hits),
    }


def count_missed(texts, true, expected):
    """Labels of each text that are no candidates, of those that are ``expected`` of new texts: (n,)."""
    found = np.count_nonzero(texts.hits & expected[texts.ids], axis=1)
    return (true.to_scipy() > 0) @ expected.astype(np.int64) - found


def labels_expected(dataset, held_out):
    """Which labels of held-out texts new texts may have, too: bool (l,).

    Those that only held-out texts have are known to the model in use; where one text alone has a label, and there are
    labels that no text has, it stands for these.
    """
    rest, all_ = (np.bincount(each.documents.train.Y.indices, minlength=each.n_labels) for each in (held_out, dataset))
    return (rest > 0) | ((all_ == 1) & np.any(all_ == 0))
