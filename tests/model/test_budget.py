"""Pruning to a size, against sorted magnitudes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.model.model_file import open_model, save_model
from ovaflow.model.pruning import prune_to_bytes, threshold_for
from ovaflow.settings.models import TrainLabels
from ovaflow.training.shard_job import train_model

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model and its dataset."""
    folder = tmp_path_factory.mktemp("budget")
    rng = np.random.default_rng(0)
    lines = ["300 400 25"]
    for _ in range(300):
        words = np.sort(rng.choice(400, 12, replace=False))
        labels = sorted({int(word) % 25 for word in words[:3]})
        lines.append(",".join(map(str, labels)) + " " + " ".join(f"{word}:{rng.random():.3f}" for word in words))
    (folder / "data.txt").write_text("\n".join(lines) + "\n")
    files = [f"--{part}={folder / 'data.txt'}" for part in ("train", "test")]
    assert main(["prepare", "--format=xmc-text", *files, "--tfidf=false", f"--output={folder / 'dataset.h5'}"]) == 0
    dataset = open_dataset(folder / "dataset.h5")
    save_model(folder / "model.h5", train_model(dataset, TrainLabels(stored_threshold=0.0), 0.0))
    return open_model(folder / "model.h5"), folder


@given(arrays(np.float32, st.integers(0, 60), elements=FLOATS), st.integers(0, 70))
def test_no_smaller_threshold_would_do(weights, most):
    threshold = np.float32(threshold_for(weights, most))
    magnitudes = np.abs(weights[weights != 0])
    assert (magnitudes >= threshold).sum() <= most
    if threshold:
        below = np.nextafter(threshold, np.float32(0))
        assert (magnitudes >= below).sum() > most
    else:
        assert len(magnitudes) <= most


@given(st.lists(st.sampled_from([0.5, -0.5, 0.25, 2.0]), max_size=30), st.integers(0, 30))
def test_equal_weights_stay_or_go_together(weights, most):
    weights = np.array(weights, np.float32)
    kept = np.abs(weights) >= np.float32(threshold_for(weights, most))
    ordered = np.sort(np.unique(np.abs(weights)))[::-1]
    theirs = max(
        [(np.abs(weights) >= value).sum() for value in ordered if (np.abs(weights) >= value).sum() <= most], default=0
    )
    assert kept.sum() == theirs


@pytest.mark.parametrize("share", [0.5, 0.8, 2.0])
def test_the_file_fits_and_is_as_large_as_it_may(trained, tmp_path, share):
    model, _ = trained
    whole = model.path.stat().st_size
    most, path = int(share * whole), tmp_path / "small.h5"
    prune_to_bytes(model, most, path)
    ours = open_model(path)
    assert path.stat().st_size <= most
    assert path.stat().st_size > most - 4 * 4096 or ours.nonzeros == model.nonzeros
    dense = model.weights.to_scipy().toarray()
    dense[np.abs(dense) < ours.parameters["prune"]] = 0
    np.testing.assert_array_equal(ours.weights.to_scipy().toarray(), dense)
    assert ours.label_names == model.label_names
    assert ours.inputs == model.inputs | {"unpruned": model.checksum}


def test_what_is_too_small_is_refused(trained, tmp_path):
    with pytest.raises(InputError, match=r"without any weight it takes .* bytes, so it cannot be pruned to 1,000"):
        prune_to_bytes(trained[0], 1000, tmp_path / "small.h5")
    assert not list(tmp_path.iterdir())


def test_on_the_command_line(trained, tmp_path, capsys):
    model, folder = trained
    arguments = [str(model.path), f"--dataset={folder / 'dataset.h5'}", f"--output={tmp_path / 'small.h5'}"]
    assert main(["prune", *arguments, "--max-bytes=40kB"]) == 0
    said = capsys.readouterr().out
    assert "weights, those of at least" in said
    assert "P@1 " in said
    assert (tmp_path / "small.h5").stat().st_size <= 40_000
    assert main(["prune", *arguments]) == 2
    assert main(["prune", *arguments, "--max-bytes=ten"]) == 2
    assert main(["prune", *arguments, "--threshold=0.2"]) == 0
    assert np.abs(open_model(tmp_path / "small.h5").weights.data).min() >= np.float32(0.2)
