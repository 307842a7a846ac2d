"""Weights from kernels of different CPU types differ by less than docs/numerics.md promises."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.long

ROUNDING = 1.01
"""Factor of the bound, since norms of gradients are computed in single precision."""

PROGRAM = """
import sys
import numpy as np
from solving import train_shard
from synthetic import make_topics

labels = range(0, 90, 3)
settings = {"C": 10.0, "initialization": "zero", "stored_threshold": 0.0}
shard = train_shard(make_topics(), labels, **settings)
np.savez(
    sys.argv[1],
    weights=shard.weights.to_scipy().toarray(),
    norms=shard.statistics["gradient_norm"],
    targets=shard.statistics["gradient_target"],
)
"""


def train_in_process(path: Path, **environment: str) -> Any:
    """Train labels in a process, with one loss, since kernels are compiled for it."""
    search_path = os.pathsep.join(filter(None, sys.path))
    variables = os.environ | {"PYTHONPATH": search_path} | environment
    command = [sys.executable, "-c", PROGRAM, str(path)]
    subprocess.run(command, check=True, env=variables, timeout=300)
    return np.load(path)


def test_weights_differ_by_no_more_than_their_gradients(tmp_path) -> None:
    # no more than every x86-64 or ARM CPU has
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "OVAFLOW_CACHE": str(tmp_path)}
    ours = train_in_process(tmp_path / "ours.npz")
    theirs = train_in_process(tmp_path / "theirs.npz", **other)
    assert list(tmp_path.glob("kernels-*-generic"))
    assert np.all(ours["norms"] <= ours["targets"])
    # the objective is strongly convex with modulus 1, so |w - w*| <= |g(w)|
    apart = np.linalg.norm(ours["weights"].astype(float) - theirs["weights"], axis=1)
    assert apart.max() > 0, "the other kernels round as these do: nothing was compared"
    assert np.all(apart <= ROUNDING * (ours["norms"] + theirs["norms"]))
