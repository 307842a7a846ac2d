"""A second stage that is used, made by the commands."""

from itertools import count

import pytest
from commands import ovaflow
from tiny_table import write_named_table

from ovaflow.dataset.dataset import open_dataset
from ovaflow.prediction.predictions import Predictions
from ovaflow.reranking.reranker_file import Reranker

STEPS = """
prepare --format=csv --train={0}/records.csv --label-separator=| --output={0}/dataset.h5
hold-out {0}/dataset.h5 --fraction=0.6 --output={0}/held.h5
@train dataset
@train held
predict {0}/held/model.h5 --dataset={0}/held.h5 --top-k=50 --output={0}/held/predictions.h5
rerank {0}/dataset/model.h5 @fitted --output={0}/dataset/reranker.h5
predict {0}/dataset/model.h5 --dataset={0}/dataset.h5 --output={0}/dataset/predictions.h5
evaluate {0}/dataset/predictions.h5 --model={0}/dataset/model.h5 @measured
reliability {0}/dataset/predictions.h5 --reranker={0}/dataset/reranker.h5 @reliable
"""
TRAIN = """
means {0}/NAME.h5 --output={0}/means.h5
plan {0}/NAME.h5 --shards=1 --output={0}/shards.tsv
train-shard {0}/NAME.h5 --means={0}/means.h5 --plan={0}/shards.tsv --shard=0 --output={0}/NAME/0.h5
merge {0}/NAME/0.h5 --dataset={0}/NAME.h5 --output={0}/NAME/model.h5 --statistics={0}/NAME/t.h5
"""
PARTS = {
    "@fitted": "@of --held-out={0}/held.h5 --predictions={0}/held/predictions.h5",
    "@measured": "@of --training={0}/dataset/t.h5 --output={0}/dataset/metrics.json",
    "@reliable": "@of --output={0}/dataset/reliability.json",
    "@of": "--dataset={0}/dataset.h5",
    "@train dataset": TRAIN.replace("NAME", "dataset"),
    "@train held": TRAIN.replace("NAME", "held"),
}


def _make(folder) -> None:
    write_named_table(folder / "records.csv")
    steps = STEPS
    for name, part in PARTS.items():
        steps = steps.replace(name, part)
    for step in filter(None, steps.splitlines()):
        ovaflow(step.format(folder))


@pytest.fixture(scope="session")
def folder(make_once):
    """Datasets, models and predictions, also of what was held out, and the second stage."""
    return make_once("reranked", _make)


@pytest.fixture(scope="session")
def dataset(folder):
    return open_dataset(folder / "dataset.h5")


@pytest.fixture(scope="session")
def held(folder):
    """The dataset with some texts held out."""
    return open_dataset(folder / "held.h5")


@pytest.fixture(scope="session")
def model(folder):
    """Path of the model of the dataset, which is next to its second stage."""
    return folder / "dataset" / "model.h5"


@pytest.fixture(scope="session")
def predicted(folder):
    return Predictions.open(folder / "dataset" / "predictions.h5")


@pytest.fixture(scope="session")
def held_predictions(folder):
    """Predictions of what was held out, to which the second stage is fitted."""
    return Predictions.open(folder / "held" / "predictions.h5")


@pytest.fixture(scope="session")
def fitted_to(folder):
    """The same as options of rerank."""
    return PARTS["@fitted"].replace("@of", PARTS["@of"]).format(folder).split()


@pytest.fixture(scope="session")
def check(model):
    """Figures of the second stage on held-out texts that it had not seen."""
    return Reranker.open_header(model.with_name("reranker.h5")).parameters["check"]


@pytest.fixture
def predict(model, dataset, tmp_path):
    """Predict the test set with some options, perhaps by another model; return what is printed."""
    numbers = count()

    def predictions(*options, by=model):
        output = tmp_path / f"predictions-{next(numbers)}.h5"
        print(ovaflow("predict", by, f"--dataset={dataset.path}", f"--output={output}", options))
        return Predictions.open(output)

    return predictions
