"""Why labels are suggested: what their scores are made of, and the evidence of the second stage in words."""

import numpy as np

from ovaflow.features.normalize import unit_rows
from ovaflow.features.tokens import token_spans
from ovaflow.model.top_k import NO_LABEL
from ovaflow.prediction.answer import shortest
from ovaflow.prediction.explanation import contributions, label_entry, shown_name, spans_in_text
from ovaflow.reranking.evidence import BEGINNING, PIECES
from ovaflow.reranking.names import WHOLE
from ovaflow.settings.predict import CANDIDATES

MOST = 0.5
"""Share of a name, by squares of its features, from which most of it is in a text."""

RARE = 10
"""Training records below which a label is rare."""

SUPPORT = 0.1
"""p(i) P(j | i) from which a candidate j goes with the candidate i."""

NAMED = 3
"""At most so many other candidates are named."""

FIRST = 10
"""Places by the first words that count as evidence in words."""

NO_CANDIDATE: dict = {"probability": None, "evidence": []}
"""What the second stage says of a label that is none of its candidates."""


def explain(predictor, x, labels, top, text=None):
    """Why labels have their scores for one instance, its text or features alone, for JSON.

    ``top`` features of each sign; with a second stage ``probability`` and ``evidence``, see
    :func:`evidence_of_candidates`.
    """
    probabilistic, candidates = predictor.model.probabilistic, {}
    if probabilistic:
        candidates = evidence_of_candidates(predictor, x, text, len(labels))
    spans = {} if text is None else spans_in_text(predictor, text)
    entries = []
    for label in labels:
        entry = contributions(predictor, x, label, top).as_dict(predictor, spans)
        if probabilistic:
            entry |= candidates.get(int(label), NO_CANDIDATE)
        entries.append(entry)
    return entries


def evidence_of_candidates(predictor, x, text=None, amount=0):
    """Probability and evidence of each candidate of one instance, of ``amount`` at least, by label.

    Evidence is a list of what there is, each with its ``kind``, a group of columns, its ``text``, and numbers.
    """
    most = min(max(amount, CANDIDATES), predictor.n_labels)
    ids, probabilities = (row[0] for row in predictor.top_k(x, most))
    known = ids != NO_LABEL
    ids, probabilities = ids[known], probabilities[known]
    evidence = predictor.model.reranker.evidence
    features, pieces = evidence.parts(x)
    row = unit_rows(features, evidence.n_word_features)
    shares = evidence.names.overlap(row, ids[None]).share[0]
    shares_of_pieces = (
        np.zeros(len(ids)) if pieces is None else evidence.pieces.names.overlap(pieces, ids[None]).share[0]
    )
    neighbour_counts, similar = evidence.neighbours.neighbour_counts(row)
    words = _words(text or "", predictor.model.transform.get("html"))
    several = np.diff(evidence.names.indptr) > 1
    companions = _companions(predictor, x, ids)
    by_first_words = _places_by_first_words(predictor.model, x, ids)
    candidates = {}
    for place, label in enumerate(ids.tolist()):
        # the name that was looked for, in whatever language it is shown
        name = _words(predictor.model.label_names[label])
        parts = (
            _name_in_text(name, several[label], words, float(shares[place]))
            or _pieces_in_text(several[label], float(shares_of_pieces[place])),
            _similar_texts(int(neighbour_counts[label]), similar),
            _other_candidates(predictor, companions[label]),
            _frequency(int(evidence.counts[label])),
            _suggested_by_first_words(int(by_first_words[place])),
        )
        evidence_in_words = [part for part in parts if part]
        candidates[label] = {"probability": shortest(probabilities[place]), "evidence": evidence_in_words}
    return candidates


def _places_by_first_words(model, x, ids):
    """Return the place of each label by the first words, from 0; that of no suggestion where they are no evidence."""
    columns = model.of_first_words(model.features_of_first_stage(x), ids[None])
    if columns is None:
        return np.full(len(ids), CANDIDATES)
    return columns[0, :, 1]


def _companions(predictor, x, ids):
    """Other candidates that each candidate goes with, those that count most first."""
    evidence, scores = predictor.model.reranker.evidence, predictor.scores(x, ids)[0]
    order = np.lexsort((ids, -scores))
    ids, likelihoods = ids[order], evidence.likelihoods(scores[order])
    parts = evidence.company.parts(ids, likelihoods)
    companions = {}
    for place, label in enumerate(ids.tolist()):
        best = np.argsort(-parts[:, place], kind="stable")[:NAMED]
        companions[label] = ids[best[parts[best, place] >= SUPPORT]].tolist()
    return companions


def _words(text, html=False):
    return {span.token for span in token_spans(text, html)}


def _name_in_text(name, several, words, share):
    """Whether the words of a name are among those of the text; it may have only the features of theirs."""
    if share < MOST:
        return None
    which = "one of its names" if several else "its name"
    text = f"words like most of {which} appear in the text"
    if share > WHOLE:
        text, share = f"words like {which} appear in the text", 1.0
    if name <= words:
        text = "all words of its name appear in the text"
    return {"kind": "name in the text", "text": text, "share": share}


def _pieces_in_text(several, share):
    """Whether parts of a name's words are in words of the text, such as a compound or another form."""
    if share < MOST:
        return None
    text = f"parts of the words of {'one of its names' if several else 'its name'} appear in the text"
    return {"kind": PIECES, "text": text, "share": min(share, 1.0)}


def _similar_texts(count, similar):
    if count == 0:
        return None
    text = f"{count} of the {similar} most similar records {'has' if count == 1 else 'have'} it"
    return {"kind": "similar texts", "text": text, "count": count, "of": similar}


def _other_candidates(predictor, labels):
    if not labels:
        return None
    names = [shown_name(label_entry(predictor, label)) for label in labels]
    *others, last = names
    joined = f"{', '.join(others)} and {last}" if others else last
    plural = "s" if others else ""
    text = f"goes with the other suggestion{plural} {joined}"
    return {"kind": "other candidates", "text": text, "labels": labels, "names": names}


def _frequency(count):
    if count >= RARE:
        return None
    records = "record" if count == 1 else "records"
    return {"kind": "frequency", "text": f"rare: {count or 'no'} training {records}", "count": count}


def _suggested_by_first_words(place):
    if place >= FIRST:
        return None
    name = "the first words"
    text = f"suggested by {name} in place {place + 1}"
    return {"kind": BEGINNING, "text": text, "place": place + 1, "by": name}
