"""Weights from kernels compiled for different CPU types differ by less than what docs/numerics.md
promises.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.long

ROUNDING = 1.01
"""Norms of gradients are computed in single precision."""

PROGRAM = """
import sys
import numpy as np
from solving import trained
from synthetic import topics

done = trained(topics(), range(0, 90, 3), C=10.0, initialization="zero", stored_threshold=0.0)
norms, targets = (done.statistics[f"gradient_{name}"] for name in ("norm", "target"))
np.savez(sys.argv[1], weights=done.weights.to_scipy().toarray(), norms=norms, targets=targets)
"""


def trained(path, **environment):
    """Labels trained by a process, with one loss, since kernels are compiled for it."""
    given = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment
    subprocess.run([sys.executable, "-c", PROGRAM, str(path)], check=True, env=given, timeout=300)
    return np.load(path)


def test_weights_differ_by_no_more_than_their_gradients(tmp_path) -> None:
    # no more than every x86-64 or ARM CPU has
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "OVAFLOW_CACHE": str(tmp_path)}
    ours = trained(tmp_path / "ours.npz")
    theirs = trained(tmp_path / "theirs.npz", **other)
    assert list(tmp_path.glob("kernels-*-generic"))
    assert np.all(ours["norms"] <= ours["targets"])
    # the objective is strongly convex with modulus 1, so |w - w*| <= |g(w)|
    apart = np.linalg.norm(ours["weights"].astype(float) - theirs["weights"], axis=1)
    assert apart.max() > 0, "the other kernels round as these do: nothing was compared"
    assert np.all(apart <= ROUNDING * (ours["norms"] + theirs["norms"]))
