import json

import numpy as np
from click.testing import CliRunner
from label_costs import main, sample_labels
from synthetic import train_model_file

from ovaflow.model.one_vs_all import OneVsAll


def test_sampled_labels_have_positives_and_follow_the_seed() -> None:
    counts = np.array([3, 0, 1, 0, 5, 2])
    assert sample_labels(counts, 10, 0).tolist() == [0, 2, 4, 5]
    chosen = sample_labels(counts, 2, 1)
    assert len(chosen) == 2
    assert chosen.tolist() == sample_labels(counts, 2, 1).tolist()
    assert (counts[chosen] > 0).all()


def test_a_label_that_starts_from_its_own_solution_takes_hardly_a_step(small_dataset, tmp_path):
    path = train_model_file(tmp_path / "model.h5", small_dataset)
    assert OneVsAll.open(path).n_labels == 12

    def measured(*options):
        done = CliRunner().invoke(main, [str(small_dataset.path), *options])
        assert not done.exit_code, done.output
        return json.loads(done.stdout)

    ours = measured("--initialization=pretrained", f"--earlier={path}", "--retrain=all")
    assert (ours["labels"], ours["not_converged"]) == (11, 0)
    assert ours["newton_per_label"] < 3 < measured("--initialization=zero")["newton_per_label"]
