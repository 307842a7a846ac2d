"""Slow reference implementations, written as plainly as possible, for tests to compare with."""

import re
import unicodedata

import numpy as np
from scipy.special import expit

_MARKS = "".join(
    chr(code) for code in range(0x110000) if unicodedata.category(chr(code)).startswith("M")
)
_TOKEN = re.compile(rf"\b(?!\d+\b)\w[\w{re.escape(_MARKS)}]+")


_TOKEN_WITH_SYMBOLS = re.compile(
    rf"(?:(?<![\w{re.escape(_MARKS)}.+#])\.(?=\w))?"
    rf"\w[\w{re.escape(_MARKS)}]*(?:[+#]{{2,}}|[+#](?!\w))?"
)


def tokens(normal_form, word_kind="plain") -> list[str]:
    """List words of two characters or more, with their combining marks, that are no numbers; with
    symbols also single characters and numbers, and words have signs.
    """
    pattern = _TOKEN_WITH_SYMBOLS if word_kind == "symbols" else _TOKEN
    return pattern.findall(normal_form)


def top_k(X, W, trained, k) -> tuple[np.ndarray, np.ndarray]:
    """Rank the k best trained labels of each row of dense X: ids and scores, by descending score,
    then by id.
    """
    ids = np.full((len(X), k), -1)
    scores = np.full((len(X), k), -np.inf)
    for i, x in enumerate(X):
        ranked = sorted((-float(W[j] @ x), j) for j in range(len(W)) if trained[j])[:k]
        for place, (negated, j) in enumerate(ranked):
            ids[i, place] = j
            scores[i, place] = -negated
    return ids, scores


def objective(X, y, w, loss="squared-hinge", C=1.0, costs=1.0, regularization="l2") -> float:
    """Compute 1/2 |w|^2 or |w|_1, + C sum c phi(y <w, x>), in float64; X is dense or sparse."""
    margins = y * (X @ w)
    if loss == "squared-hinge":
        losses = np.square(np.maximum(0, 1 - margins))
    else:
        losses = np.logaddexp(0, -margins)
    penalty = np.abs(w).sum() if regularization == "l1" else 0.5 * w @ w
    return penalty + C * (costs * losses).sum()


def loss_gradient(X, y, w, loss="squared-hinge", C=1.0, costs=1.0) -> np.ndarray:
    """Compute the gradient of the losses in :func:`objective`."""
    margins = y * (X @ w)
    if loss == "squared-hinge":
        slopes = -2 * np.maximum(0, 1 - margins)
    else:
        slopes = -expit(-margins)
    return C * X.T @ (costs * slopes * y)


def violation(X, y, w, loss="squared-hinge", C=1.0, costs=1.0, regularization="l2") -> float:
    """Compute the norm of the gradient of :func:`objective`; with L1 the sum over features of the
    distance of 0 from its subdifferential.
    """
    gradient = loss_gradient(X, y, w, loss, C, costs)
    if regularization == "l2":
        return np.linalg.norm(w + gradient)
    at_zero = np.maximum(0, np.abs(gradient) - 1)
    elsewhere = np.abs(gradient + np.sign(w))
    return np.where(w == 0, at_zero, elsewhere).sum()


def truncated_newton_step(X, active, curvatures, gradient, C=1.0, preconditioning=0.01):
    """Compute the step p and the number of iterations of preconditioned conjugate gradients on a
    dense Hessian, truncated as in LIBLINEAR 2.40.
    """
    rows = X[active]
    hessian = np.eye(X.shape[1]) + C * rows.T @ (curvatures[:, None] * rows)
    M = (1 - preconditioning) + preconditioning * np.diag(hessian)
    p = np.zeros_like(gradient)
    r = -gradient
    z = r / M
    d = z.copy()
    energy = r @ z
    model = 0.0
    tolerance = min(0.5, np.sqrt(np.sqrt(energy)))
    for k in range(1, 1000):
        Hd = hessian @ d
        if d @ Hd <= 1e-16:
            break
        length = energy / (d @ Hd)
        p = p + length * d
        r = r - length * Hd
        new_model = 0.5 * p @ (gradient - r)
        if k * (new_model - model) >= tolerance * new_model:
            break
        z = r / M
        d = z + (r @ z) / energy * d
        energy = r @ z
        model = new_model
    return p, k


def _discounted_sum(gains) -> float:
    return sum(gain / np.log2(rank + 2) for rank, gain in enumerate(gains))


def ranking_metrics(ids, Y, inverse, k) -> dict[str, float]:
    """Compute P, nDCG, recall, PSP, PSnDCG at k and coverage, one instance after another.

    Y is dense, of 0 and 1; ``inverse`` are inverse propensities.
    """
    precisions = []
    ndcgs = []
    recalls = []
    psp = 0
    best_psp = 0
    psndcg = 0
    best_psndcg = 0
    covered = set()
    for row, y in zip(ids, Y, strict=True):
        true = set(np.flatnonzero(y))
        hits = true & set(row[:k])
        gains = [inverse[j] if j in true else 0.0 for j in row[:k]]
        best_gains = sorted((inverse[j] for j in true), reverse=True)[:k]
        covered |= hits
        precisions.append(len(hits) / k)
        psp = psp + sum(gains)
        best_psp = best_psp + sum(best_gains)
        if true:
            ideal = _discounted_sum([1] * min(k, len(true)))
            ndcgs.append(_discounted_sum([gain > 0 for gain in gains]) / ideal)
            recalls.append(len(hits) / len(true))
            psndcg += _discounted_sum(gains) / ideal
            best_psndcg += _discounted_sum(best_gains) / ideal
    return {
        "P": np.mean(precisions),
        "nDCG": np.mean(ndcgs) if ndcgs else 0,
        "recall": np.mean(recalls) if recalls else 0,
        "PSP": psp / best_psp if best_psp else 0,
        "PSnDCG": psndcg / best_psndcg if best_psndcg else 0,
        "coverage": len(covered) / max(np.count_nonzero(Y.sum(axis=0)), 1),
    }


def ndcg_sides(Y, sides, normalizers, gains, discounts, resolution, pull=0.0) -> np.ndarray:
    """Repeat FastXML's first two steps (eq. 11 and 13) until no side changes; dense Y, ties to the
    smaller label.

    Gains are rounded to multiples of 1/resolution; the separator adds ``pull`` to v^- - v^+.
    """
    rounded = np.round(normalizers[:, None] * gains * Y * resolution)
    while True:
        d = []
        for side in (0, 1):
            ranking = np.argsort(-rounded[sides == side].sum(axis=0), kind="stable")
            d.append(discounts[np.argsort(ranking)])
        advantage = normalizers * (Y @ (gains * (d[1] - d[0]))) + pull
        better = np.where(advantage > 1e-12, 1, np.where(advantage < -1e-12, 0, sides))
        if (better == sides).all():
            return better
        sides = better


def forest_scores(trees, x, n_labels) -> np.ndarray:
    """Compute the mean of the leaf distributions of a dense instance (FastXML, algorithm 3); each
    tree is a forest of one.
    """
    total = np.zeros(n_labels)
    for tree in trees:
        node = 0
        separators = tree.separators.to_scipy().toarray()
        distributions = tree.distributions.to_scipy().toarray()
        while tree.children[node]:
            node = tree.children[node] + (0 if separators[node] @ x > 0 else 1)
        total += distributions[node]
    return total / len(trees)


def mark_labels(rows, n_labels) -> np.ndarray:
    """Mark the labels of each row, bool (n, l); negative numbers are no labels."""
    marked = np.zeros((len(rows), n_labels), bool)
    for i, row in enumerate(rows):
        for label in row:
            if label >= 0:
                marked[i, label] = True
    return marked


def count_outcomes(ids, Y, amounts) -> dict[str, int]:
    """Count true labels that are found, and missed by reason, one label after another.

    Y is dense; ids are by descending probability, of which ``amounts`` are predicted.
    """
    counts = {"true": 0, "found": 0, "unfitting": 0, "ranked_low": 0, "no_candidates": 0}
    for row, amount, y in zip(ids.tolist(), amounts, Y, strict=True):
        for label in y.nonzero()[0].tolist():
            counts["true"] += 1
            if label not in row:
                counts["no_candidates"] += 1
            elif row.index(label) < amount:
                counts["found"] += 1
            elif row.index(label) < 5:
                counts["unfitting"] += 1
            else:
                counts["ranked_low"] += 1
    return counts


def group_metrics(ids, Y, inverse, k, members) -> dict[str, float]:
    """Compute the recall of a group of labels, and its parts of P@k and PSP@k; Y is dense."""
    hits = 0
    true = 0
    gains = 0.0
    best = 0.0
    for row, y in zip(ids, Y, strict=True):
        right = [j for j in row[:k] if j >= 0 and y[j] and j in members]
        hits += len(right)
        true += len([j for j in np.flatnonzero(y) if j in members])
        gains += sum(inverse[j] for j in right)
        best += sum(sorted((inverse[j] for j in np.flatnonzero(y)), reverse=True)[:k])
    return {
        "recall": hits / true if true else 0,
        "precision": hits / (k * len(Y)) if len(Y) else 0,
        "psp": gains / best if best else 0,
    }


def count_confusions(ids, Y) -> dict[tuple[int, int], int]:
    """Count how often a label is predicted where another is missed, among the first labels of an
    instance, as many as it has.
    """
    times = {}
    for row, y in zip(ids, Y, strict=True):
        true = set(np.flatnonzero(y).tolist())
        wrong = [j for j in row[: len(true)].tolist() if j >= 0 and j not in true]
        for missed in true - set(row.tolist()):
            for j in wrong:
                times[missed, j] = times.get((missed, j), 0) + 1
    return times


_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def parse_rows(text, n, first_feature, end_feature, end_label, comments):
    """Parse lines ``label,label feature:value``; return the instances, and the number of the first
    wrong line or None.

    An instance is a list of (feature, float32 value) and a list of labels, both in the order of the
    line.
    """
    instances = []
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    for number, line in enumerate(lines, 1):
        if comments:
            line = line.split(b"#")[0]
        tokens = re.split(rb"[ \t\r]", line)
        tokens = [token for token in tokens if token]
        if not tokens and (comments or len(instances) == n):
            continue
        try:
            if len(instances) == n:
                raise ValueError
            labels = tokens.pop(0) if tokens and not re.match(rb"\d+:", tokens[0]) else b""
            if labels and not re.fullmatch(rb"\d+(,\d+)*", labels):
                raise ValueError
            labels = [_parse_id(id, 0, end_label) for id in labels.split(b",") if id]
            entries = [_parse_entry(token, first_feature, end_feature) for token in tokens]
            instances.append((entries, labels))
        except ValueError:
            return instances, number
    return instances, None


def _parse_id(id, first, end) -> int:
    if not re.fullmatch(rb"\d+", id):
        raise ValueError
    # Python converts no more than 4300 digits
    if not first <= int(id[-4000:]) < end or id[:-4000].strip(b"0"):
        raise ValueError
    return int(id)


def _parse_entry(token, first, end) -> tuple[int, np.float32]:
    feature, _, value = token.partition(b":")
    if not _NUMBER.fullmatch(value):
        raise ValueError
    with np.errstate(over="ignore"):
        value = np.float32(float(value))
    if not np.isfinite(value):
        raise ValueError
    return _parse_id(feature, first, end), value


def find_phrases(words, phrases):
    """Yield (place, number) of the phrases in a text; the last two letters of a word may differ and
    others may follow.
    """

    def matches(word, full_word) -> bool:
        stem = full_word[: max(5, len(full_word) - 2)]
        return word == stem or (len(stem) >= 5 and word.startswith(stem))

    for place in range(len(words)):
        for number, phrase in enumerate(phrases):
            part = words[place : place + len(phrase)]
            if len(part) < len(phrase):
                continue
            if all(matches(word, other) for word, other in zip(part, phrase, strict=True)):
                yield place, number


def jaccard(X) -> np.ndarray:
    """Compute the Jaccard similarity (n, n) of each pair of rows of zeros and ones."""
    common = X @ X.T
    sizes = X.sum(axis=1)
    return common / np.maximum(sizes[:, None] + sizes - common, 1)


def resolve_labels(written, new_names, replaced, above, is_label):
    """Resolve the labels of a record: final, left out, renamed and replaced ones, four sets."""
    names = {new_names.get(label, label) for label in written} - {""}
    current = {replaced.get(name, name) for name in names}
    every = set(current)
    for name in current:
        every |= set(above(name))
    kept = {label for label in every if is_label(label)}
    return kept, every - kept, set(written) & new_names.keys(), names & replaced.keys()


def _fold(text) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _is_letter(character) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def rank_text(searched, text) -> int:
    """Rank a text: 0 equal, 1 begins with the search, 2 each of its words begins a word, 3 each
    occurs, 4 no match.
    """
    text = _fold(text)
    if text == searched:
        return 0
    if text.startswith(searched):
        return 1
    rank = 2
    words = [word for word in re.split(r"[\s,;]+", searched) if word]
    for word in words or [searched]:
        places = [place for place in range(len(text)) if text.startswith(word, place)]
        if not places:
            return 4
        if not any(place == 0 or not _is_letter(text[place - 1]) for place in places):
            rank = 3
    return rank


def find_labels(search, labels) -> list[tuple[int, str | None]]:
    """Find labels given by name, alternative names, URI and notation: ids in order, and the
    alternative names by which they are found.
    """
    searched = _fold(search.strip())
    if not searched:
        return [(label, None) for label in range(len(labels))]
    identifier = re.sub("^https?://", "", search.strip(), flags=re.I).rstrip("/").lower()
    found = []
    for label, (name, alternatives, uri, notation) in enumerate(labels):
        ranks = [(rank_text(searched, name), 0, None)]
        for alternative in alternatives:
            ranks.append((rank_text(searched, alternative), 1, alternative))
        by_notation = rank_text(searched, notation)
        if by_notation <= 1:
            ranks.append((by_notation, 0, None))
        uri_end = uri.lower().rstrip("/")
        if identifier and re.search(f"(^|[/#:]){re.escape(identifier)}$", uri_end):
            ranks.append((0, 0, None))
        rank, _, alternative = best = min(ranks, key=lambda each: each[:2])
        if rank < 4:
            found.append((best[:2], label, alternative))
    found.sort(key=lambda each: each[:2])
    return [(label, alternative) for _, label, alternative in found]
