import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from ovaflow.data.normalize import fill_rows
from ovaflow.sparse.csr import for_kernels, from_scipy
from ovaflow.sparse.panel import WIDTH, panel_product


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 30), st.floats(0, 1), st.booleans(), st.integers(0, 2**32 - 1))
def test_product_of_scipy(n, d, density, full, seed):
    rng = np.random.default_rng(seed)
    X = from_scipy(sp.random_array((n, d), density=density, rng=rng))
    panel = rng.normal(size=(d, WIDTH)).astype(np.float32)
    ours = np.full((n, WIDTH), np.nan, np.float32)
    panel_product(*(for_kernels(fill_rows(X)) if full else X).arrays, panel, ours)
    theirs = X.to_scipy().astype(float) @ panel
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
