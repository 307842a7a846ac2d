"""What the classifiers train is what the pipeline trains, to the last bit."""

import h5py
import numpy as np
import pytest

from ovaflow import FastXMLClassifier, OneVsAllClassifier, RembrandtClassifier
from ovaflow.cli import main
from ovaflow.prediction.predictor import Predictor


def by_pipeline(table, folder, method, *options):
    """Model file of the pipeline, from two shards."""
    dataset, model = str(table.dataset), folder / "model.h5"
    written = [f"--output={model}", f"--statistics={folder / 'training.h5'}"]
    shards = [str(folder / f"{shard}.h5") for shard in range(2)]

    def run(*arguments):
        assert main([str(argument) for argument in arguments]) == 0

    if method == "one-vs-all":
        run("means", dataset, f"--output={folder / 'means.h5'}")
        run("plan", dataset, "--shards=2", f"--output={folder / 'shards.tsv'}")
        for k, shard in enumerate(shards):
            files = f"--means={folder / 'means.h5'}", f"--plan={folder / 'shards.tsv'}", f"--output={shard}"
            run("train-shard", dataset, *files, f"--shard={k}", *options)
        run("merge", *shards, f"--dataset={dataset}", *written)
    elif method == "fastxml":
        for k, shard in enumerate(shards):
            run("train-trees", dataset, f"--shard={k}", "--shards=2", *options, f"--output={shard}")
        run("merge-trees", *shards, f"--dataset={dataset}", *written)
    else:
        embedding, projected = folder / "embedding.h5", folder / "projected.h5"
        run("embed", dataset, *options, f"--output={embedding}")
        run("project", dataset, f"--embedding={embedding}", f"--output={projected}")
        tuned = folder / "decoder.json"
        run("tune-decoder", projected, f"--dataset={dataset}", f"--embedding={embedding}", f"--output={tuned}")
        for k, shard in enumerate(shards):
            run("train-decoder", projected, f"--tuned={tuned}", f"--shard={k}", "--shards=2", f"--output={shard}")
        run("join-decoder", *shards, f"--projected={projected}", f"--tuned={tuned}", f"--dataset={dataset}", *written)
    return model


def contents(path):
    """Every array of a model file."""
    arrays = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: arrays.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return arrays


CASES = {
    "one-vs-all": (OneVsAllClassifier, {}, []),
    "zero": (OneVsAllClassifier, {"initialization": "zero", "C": 3.0}, ["--initialization=zero", "--C=3"]),
    "fastxml": (FastXMLClassifier, {"trees": 4, "seed": 5}, ["--trees=4", "--seed=5"]),
    "rembrandt": (RembrandtClassifier, {"rank": 4}, ["--rank=4"]),
}


@pytest.fixture(scope="module", params=CASES)
def case(request, table, tmp_path_factory):
    """A classifier, its settings, and the model that the pipeline trains with them."""
    kind, settings, options = CASES[request.param]
    return kind, settings, by_pipeline(table, tmp_path_factory.mktemp("pipeline"), kind.method, *options)


@pytest.mark.parametrize("form", ["sparse", "lists"])
def test_the_model_file_holds_the_same_bits(table, tmp_path, case, form):
    kind, settings, theirs = case
    Y = table.Y if form == "sparse" else [row.indices.tolist() for row in table.Y]
    ours = kind(normalize=True, **settings).fit(table.X, Y)
    ours.save(tmp_path / "ours.h5")
    ours, theirs = contents(tmp_path / "ours.h5"), contents(theirs)
    if form == "lists":
        # a label without instances is in no list
        assert set(ours) == set(theirs)
        theirs = {name: array for name, array in theirs.items() if name == "weights/data" or "separators" in name}
    assert {name: array.tobytes() for name, array in theirs.items()} == {name: ours[name].tobytes() for name in theirs}


def test_models_of_the_pipeline_are_loaded(table, case):
    kind, settings, path = case
    ours, theirs = kind.load(path), kind(normalize=True, **settings).fit(table.X, table.Y)
    assert ours.get_params().items() >= (settings | {"normalize": True, "bias": 1.0}).items()
    np.testing.assert_array_equal(ours.decision_function(table.X), theirs.decision_function(table.X))
    assert (ours.predict(table.X) != theirs.predict(table.X)).nnz == 0
    opened = Predictor.open(path)
    ids, scores = opened.top_k(ours._instances(table.X), 3)
    names, found = ours.predict_topk(table.X, 3)
    np.testing.assert_array_equal(np.array(opened.label_names)[ids], names)
    np.testing.assert_array_equal(scores, found)
