import numpy as np

from ovaflow.training.benchmark import sample_labels


def test_sampled_labels_have_positives_and_follow_the_seed():
    counts = np.array([3, 0, 1, 0, 5, 2])
    assert sample_labels(counts, 10, 0).tolist() == [0, 2, 4, 5]
    chosen = sample_labels(counts, 2, 1)
    assert len(chosen) == 2
    assert chosen.tolist() == sample_labels(counts, 2, 1).tolist()
    assert (counts[chosen] > 0).all()
