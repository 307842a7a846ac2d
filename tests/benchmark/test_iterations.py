import re
from pathlib import Path

import iterations
import numpy as np
import pytest
from click.testing import CliRunner
from records import read_records

from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_labels


@pytest.mark.parametrize("start", ["zero", "label-tree"])
def test_iterations_end_where_training_ends(small_dataset, start) -> None:
    training = TrainLabels(initialization=start, reference=True)
    inputs = compute_start_inputs(small_dataset, training)
    labels = np.flatnonzero(inputs.means.counts)
    theirs = train_labels(small_dataset, inputs, labels, training).statistics
    rows = iterations.measure(small_dataset, 50, 0, TrainLabels(), [start])
    last = list({row.label: row for row in rows}.values())
    assert {row.label for row in last} == set(labels.tolist())
    place = np.searchsorted(labels, [row.label for row in last])
    assert [row.iteration for row in last] == theirs["newton_steps"][place].tolist()
    ours = [(row.objective, row.gradient_norm, row.active * 400) for row in last]
    expected = [theirs[name][place] for name in ("objective", "gradient_norm", "active_end")]
    assert np.array(ours) == pytest.approx(np.transpose(expected), rel=1e-4)
    assert all(0 <= row.above_optimum < 1e-2 for row in last)


def test_the_script_prints_a_table_and_writes_rows_and_a_figure(small_dataset, tmp_path) -> None:
    output = tmp_path / "rows.csv"
    figure = tmp_path / "figure.svg"
    options = [
        f"--output={output}",
        f"--figure={figure}",
        "--labels=4",
        "--start=zero",
        "--start=bias",
    ]
    done = CliRunner().invoke(
        iterations.main, [str(small_dataset.path), *options], catch_exceptions=False
    )
    assert {"zero, 1", "bias, 1"} <= set(re.findall(r"\w+, 1\b", done.output))
    rows = read_records(output)
    for start in ("zero", "bias"):
        of_label = [
            float(row["objective"]) for row in rows if (row["start"], row["label"]) == (start, "0")
        ]
        assert (np.diff(of_label) < 0).all()
    assert Path(figure).read_text().count("Newton iteration") >= 4
