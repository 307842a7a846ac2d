"""What the parts of a shard keep of a label, and what the job that continues makes of it."""

import sys

import numpy as np

from ovaflow.fingerprint import code_fingerprint
from ovaflow.solver.problem import Outcome
from ovaflow.storage.parts import digest_of
from ovaflow.training.label_jobs import TrainedLabel

_COUNTS = ("newton_steps", "cg_steps", "line_search_halvings", "active_start", "active_end", "status", "full_passes")
_MEASURES = ("objective", "gradient_norm", "gradient_target")
_NO_SOLUTION = np.empty(0, np.int32), np.empty(0, np.float32)


def digest_of_shard(labels, training, inputs, made_from, command):
    """Digest of all that the weights of a shard depend on, with the code of the command that trains it."""
    means, root = inputs.means, inputs.root
    arrays = [labels, means.x_mean, means.pp, means.xp, np.array([means.xx, inputs.bias, inputs.n]), means.counts]
    arrays += [] if root is None else [root.weights]
    arrays += [] if inputs.parents is None else [inputs.parents]
    return digest_of(training.recorded, made_from, code_fingerprint(command), *arrays)


def keep_label(parts, label, trained):
    """Keep a finished label; its weights before pruning too, if other labels start there."""
    counts, measures = ([getattr(trained.outcome, name) for name in names] for names in (_COUNTS, _MEASURES))
    features, weights = trained.solution or _NO_SOLUTION
    parts.keep(
        label,
        indices=trained.indices,
        data=trained.data,
        counts=np.array(counts, np.int64),
        measures=np.array([*measures, trained.seconds]),
        solved=np.array([trained.solution is not None]),
        features=features,
        weights=weights,
    )


def earlier_labels(parts, labels, title):
    """Results of the labels that earlier attempts finished, and the solutions that children start from, by label."""
    results, solutions = {}, {}
    for label, kept in parts.earlier().items():
        *measures, seconds = kept["measures"].tolist()
        outcome = Outcome(**dict(zip(_COUNTS + _MEASURES, kept["counts"].tolist() + measures, strict=True)))
        results[label] = TrainedLabel(kept["indices"], kept["data"], outcome, seconds)
        if kept["solved"][0]:
            solutions[label] = kept["features"], kept["weights"]
    if results:
        print(f"{title}: continues, {len(results):,} of {len(labels):,} labels were finished", file=sys.stderr)
    return results, solutions
