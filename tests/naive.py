"""Slow references: each algorithm written the plainest way, for tests to compare with."""

import re
import unicodedata

import numpy as np

_MARKS = "".join(
    chr(code) for code in range(0x110000) if unicodedata.category(chr(code)).startswith("M")
)
_TOKEN = re.compile(rf"\b(?!\d+\b)\w[\w{re.escape(_MARKS)}]+")


def tokens(normal_form):
    """Words of two characters or more, with their combining marks, that are not numbers."""
    return _TOKEN.findall(normal_form)


def top_k(X, W, trained, k):
    """Ids and scores of the k best trained labels per row of dense X: falling score, then smaller
    id.
    """
    ids = np.full((len(X), k), -1)
    scores = np.full((len(X), k), -np.inf)
    for i, x in enumerate(X):
        ranked = sorted((-float(W[j] @ x), j) for j in range(len(W)) if trained[j])[:k]
        for place, (negated, j) in enumerate(ranked):
            ids[i, place] = j
            scores[i, place] = -negated
    return ids, scores


def objective(X, y, w, loss="squared-hinge", C=1.0, costs=1.0, regularization="l2"):
    """1/2 |w|^2 or |w|_1, + C sum c phi(y <w, x>), float64, X dense or sparse."""
    margins = y * (X @ w)
    losses = (
        np.square(np.maximum(0, 1 - margins))
        if loss == "squared-hinge"
        else np.logaddexp(0, -margins)
    )
    penalty = np.abs(w).sum() if regularization == "l1" else 0.5 * w @ w
    return penalty + C * (costs * losses).sum()


def loss_gradient(X, y, w, loss="squared-hinge", C=1.0, costs=1.0):
    """Gradient of the losses in :func:`objective`."""
    margins = y * (X @ w)
    slopes = (
        -2 * np.maximum(0, 1 - margins) if loss == "squared-hinge" else -1 / (1 + np.exp(margins))
    )
    return C * X.T @ (costs * slopes * y)


def violation(X, y, w, loss="squared-hinge", C=1.0, costs=1.0, regularization="l2"):
    """Norm of the gradient of :func:`objective`; with L1 the distance of 0 from its
    subdifferential, over features.
    """
    gradient = loss_gradient(X, y, w, loss, C, costs)
    if regularization == "l2":
        return np.linalg.norm(w + gradient)
    return np.where(
        w == 0, np.maximum(0, np.abs(gradient) - 1), np.abs(gradient + np.sign(w))
    ).sum()


def truncated_newton_step(X, active, curvatures, gradient, C=1.0, preconditioning=0.01):
    """Preconditioned conjugate gradient as LIBLINEAR 2.40 truncates it, on a dense Hessian: (p,
    steps).
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


def ranking_metrics(ids, Y, inverse, k):
    """P, nDCG, recall, PSP, PSnDCG at k and coverage, instance by instance; Y dense of 0 and 1."""
    P = []
    N = []
    R = []
    ps = 0
    best_ps = 0
    psn = 0
    best_psn = 0
    covered = set()
    for row, y in zip(ids, Y, strict=True):
        true = set(np.flatnonzero(y))
        gains = [inverse[j] if j in true else 0.0 for j in row[:k]]
        best = sorted((inverse[j] for j in true), reverse=True)[:k]
        covered |= true & set(row[:k])
        P.append(len(true & set(row[:k])) / k)
        ps = ps + sum(gains)
        best_ps = best_ps + sum(best)
        if true:
            ideal = sum(1 / np.log2(r + 2) for r in range(min(k, len(true))))
            N.append(sum((g > 0) / np.log2(r + 2) for r, g in enumerate(gains)) / ideal)
            R.append(len(true & set(row[:k])) / len(true))
            psn += sum(g / np.log2(r + 2) for r, g in enumerate(gains)) / ideal
            best_psn += sum(g / np.log2(r + 2) for r, g in enumerate(best)) / ideal
    return {
        "P": np.mean(P),
        "nDCG": np.mean(N) if N else 0,
        "recall": np.mean(R) if R else 0,
        "PSP": ps / best_ps if best_ps else 0,
        "PSnDCG": psn / best_psn if best_psn else 0,
        "coverage": len(covered) / max(np.count_nonzero(Y.sum(axis=0)), 1),
    }


def ndcg_sides(Y, sides, normalisers, gains, discounts, resolution, pull=0.0):
    """FastXML's first two steps (eq. 11 and 13) until no side changes; dense Y, ties to the smaller
    label.

    Gains are rounded to multiples of 1/resolution; ``pull`` is what the separator adds to v^- -
    v^+.
    """
    rounded = np.round(normalisers[:, None] * gains * Y * resolution)
    while True:
        d = []
        for side in (0, 1):
            ranking = np.argsort(-rounded[sides == side].sum(axis=0), kind="stable")
            d.append(discounts[np.argsort(ranking)])
        advantage = normalisers * (Y @ (gains * (d[1] - d[0]))) + pull
        better = np.where(advantage > 1e-12, 1, np.where(advantage < -1e-12, 0, sides))
        if (better == sides).all():
            return better
        sides = better


def forest_scores(trees, x, n_labels):
    """Mean of the leaf distributions of a dense instance (FastXML, algorithm 3); trees are single
    ones.
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


def reasons_of_missed_labels(ids, probabilities, Y, amounts):
    """Count true labels by what became of them, label by label; Y dense, ids by falling
    probability.
    """
    counts = {"true": 0, "found": 0, "below the cut": 0, "ranked too low": 0, "no candidates": 0}
    for row, amount, y in zip(ids.tolist(), amounts, Y, strict=True):
        for label in y.nonzero()[0].tolist():
            counts["true"] += 1
            if label not in row:
                counts["no candidates"] += 1
            elif row.index(label) < amount:
                counts["found"] += 1
            else:
                counts["below the cut" if row.index(label) < 5 else "ranked too low"] += 1
    return counts


def group_metrics(ids, Y, inverse, k, members):
    """Recall of a group's true labels, and the group's parts of P@k and PSP@k, instance by
    instance; Y dense.
    """
    hits = true = 0
    gains = best = 0.0
    for row, y in zip(ids, Y, strict=True):
        right = [j for j in row[:k] if j >= 0 and y[j]]
        hits += sum(j in members for j in right)
        true += sum(j in members for j in np.flatnonzero(y))
        gains += sum(inverse[j] for j in right if j in members)
        best += sum(sorted((inverse[j] for j in np.flatnonzero(y)), reverse=True)[:k])
    return {
        "recall": hits / true if true else 0,
        "precision": hits / (k * len(Y)) if len(Y) else 0,
        "psp": gains / best if best else 0,
    }


def confusions(ids, Y):
    """How often each label is predicted, in the places that true labels could fill, where another
    is missed.
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
    """Instances of lines ``label,label feature:value``, and the number of the first line that is
    wrong (None: none is).

    An instance is its list of (feature, float32 value) and its list of labels, both in the order of
    the line.
    """
    instances = []
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n") if text else [], 1):
        tokens = (
            (line.split(b"#")[0] if comments else line)
            .replace(b"\t", b" ")
            .replace(b"\r", b" ")
            .split(b" ")
        )
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
            instances.append(
                ([_parse_entry(token, first_feature, end_feature) for token in tokens], labels)
            )
        except ValueError:
            return instances, number
    return instances, None


def _parse_id(id, first, end):
    if (
        not re.fullmatch(rb"\d+", id)
        or not first <= int(id[-4000:]) < end
        or id[:-4000].strip(b"0")
    ):
        raise ValueError
    return int(id)


def _parse_entry(token, first, end):
    feature, _, value = token.partition(b":")
    if not _NUMBER.fullmatch(value):
        raise ValueError
    with np.errstate(over="ignore"):
        value = np.float32(float(value))
    if not np.isfinite(value):
        raise ValueError
    return _parse_id(feature, first, end), value


def find_phrases(words, phrases):
    """(place, number) of the phrases in a text; a word may have other letters at its end, from the
    last two on.
    """

    def stands_for(word, whole):
        stem = whole[: max(5, len(whole) - 2)]
        return word == stem or (len(stem) >= 5 and word.startswith(stem))

    for place in range(len(words)):
        for number, phrase in enumerate(phrases):
            part = words[place : place + len(phrase)]
            if len(part) == len(phrase) and all(map(stands_for, part, phrase)):
                yield place, number


def jaccard(X):
    """Common features over all features of each pair of rows of zeros and ones, (n, n)."""
    common = X @ X.T
    sizes = X.sum(axis=1)
    return common / np.maximum(sizes[:, None] + sizes - common, 1)


def resolve_labels(written, new_names, replaced, above, is_label):
    """Labels that a record means, those left out, those renamed and those replaced: four sets."""
    names = {new_names.get(label, label) for label in written} - {""}
    current = {replaced.get(name, name) for name in names}
    every = current.union(*map(above, current))
    kept = {label for label in every if is_label(label)}
    return kept, every - kept, set(written) & new_names.keys(), names & replaced.keys()
