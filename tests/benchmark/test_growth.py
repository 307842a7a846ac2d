"""Growth of the cost of a label, and the parts of a dataset that it is measured on."""

import growth
import numpy as np
from click.testing import CliRunner
from sklearn.preprocessing import normalize


def test_each_part_is_measured_with_both_solvers(small_dataset, tmp_path) -> None:
    figure = tmp_path / "growth.svg"
    done = CliRunner().invoke(
        growth.main, [str(small_dataset.path), "--labels=8", f"--figure={figure}"]
    )
    assert done.exit_code == 0, done.output
    for sizes in (
        "n = 50, n = 100, n = 200, n = 400",
        "d = 5, d = 10, d = 20, d = 40",
        "l = 1, l = 2, l = 4, l = 8",
    ):
        for size in sizes.split(", "):
            assert f"{size}, fast" in done.output
            assert f"{size}, plain" in done.output
    assert "fast: CPU time of a label grows as n^" in done.output
    assert figure.stat().st_size > 1000


def test_frequent_features_are_kept_and_rows_have_unit_length(small_dataset) -> None:
    X = small_dataset.train.X.to_scipy().toarray()
    frequency = (X[:, :-1] != 0).sum(axis=0)
    ours = growth.with_frequent_features(small_dataset, 10).train.X.to_scipy().toarray()
    kept = np.sort(np.argsort(-frequency, kind="stable")[:10])
    theirs = np.hstack([normalize(X[:, kept]), np.ones((400, 1))])
    assert np.allclose(ours, theirs, atol=1e-6)
