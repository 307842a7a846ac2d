"""A sample of labels, stratified by their positives (Cochran, Sampling Techniques, ch. 5).

Time and weights of a label grow with its positives. Frequent labels are sampled more densely than they occur, since
they take most of the time and differ more from each other.
"""

import numpy as np


def stratified_sample(counts, n_labels, seed):
    """Draw labels with positives; all of them if there are no more than ``n_labels``.

    Returns them from rare to frequent, and how many labels each represents. Their number is met roughly, since each
    stratum gives at least two.
    """
    candidates = np.flatnonzero(counts)
    magnitudes = np.log2(counts[candidates]).astype(np.int64)
    strata = [candidates[magnitudes == magnitude] for magnitude in np.unique(magnitudes)]
    if len(candidates) <= n_labels:
        return np.concatenate([candidates[:0], *strata]), np.ones(len(candidates))
    generator = np.random.default_rng(seed)
    shares = np.array([len(stratum) * np.sqrt(counts[stratum].mean()) for stratum in strata])
    wanted = np.maximum(np.rint(n_labels * shares / shares.sum()), 2).astype(np.int64)
    drawn = [
        generator.choice(stratum, min(size, len(stratum)), replace=False)
        for stratum, size in zip(strata, wanted, strict=True)
    ]
    represented = [len(stratum) / len(own) for stratum, own in zip(strata, drawn, strict=True)]
    return np.concatenate(drawn), np.repeat(represented, [len(own) for own in drawn])
