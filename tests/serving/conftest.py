"""Two models of texts with hostile names, and a service of one of them."""

import pytest
from hostile_table import HOSTILE, write_texts
from plain_evidence import fit_plain_evidence
from running_service import running_service
from synthetic import prepare_and_train

from ovaflow.dataset.dataset import open_dataset
from ovaflow.model.model_file import open_any_model
from ovaflow.model.ranked_labels import find_hits
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.usual_texts import count_test_texts
from ovaflow.reranking.boosted_trees import fit_trees
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.settings.train import TrainLabels
from ovaflow.storage.texts import write_json
from ovaflow.training.shard_job import train_model

URI = "http://example.org/{}".format
TEXTS = ["black cats purr", "cats purr loudly", "dogs bark loudly", "black dogs bark", "birds sing"]
SUBJECTS = [("cats",), ("cats", "birds"), ("dogs",), ("dogs",), ("birds",)]


def _fit_second_stage(dataset, path, output) -> None:
    """Fit a second stage of a model to the texts that the model was trained on."""
    model = open_any_model(path)
    train = dataset.documents.train
    evidence = fit_plain_evidence(dataset)
    candidates = evidence.find_candidates(
        evidence.prepare_texts(train.X, model), *model.top_k(train.X, len(HOSTILE))
    )
    rows = evidence.compute(candidates).reshape(-1, len(evidence.column_names))
    trees = fit_trees(rows, find_hits(candidates.ids, train.Y).ravel())
    parameters = {"columns": evidence.column_names, "check": {"missed": 0.0}}
    Reranker(trees, evidence=evidence, parameters=parameters).write(output, model=model)


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Folder with a.h5 and its second stage a.reranker.h5, and with b.h5, another model of the same
    texts.
    """
    folder = tmp_path_factory.mktemp("served")
    write_texts(folder / "texts.csv")
    prepare_and_train(
        folder,
        "--format=csv",
        f"--train={folder}/texts.csv",
        "--label-separator=¦",
        name="a",
        prune=0.01,
    )
    dataset = open_dataset(folder / "dataset.h5")
    train_model(dataset, TrainLabels(C=0.05), 0.01).write(folder / "b.h5")
    _fit_second_stage(dataset, folder / "a.h5", folder / "a.reranker.h5")
    predictor = Predictor.open(folder / "a.h5", folder / "a.reranker.h5")
    write_json(
        folder / "metrics.json",
        "metrics",
        count_test_texts(dataset, predictor),
        described=predictor.model.checksum,
    )
    return folder


@pytest.fixture(scope="session")
def service(models, tmp_path_factory):
    """Model a with its second stage, two workers, and a file of corrections."""
    folder = tmp_path_factory.mktemp("service")
    corrections = folder / "corrections.jsonl"
    with running_service(
        folder,
        models / "a.h5",
        f"--reranker={models / 'a.reranker.h5'}",
        "--workers=2",
        "--max-body=500000",
        "--max-text=2000",
        "--max-batch=16",
        "--allowed-origin=https://allowed.example.org",
        f"--corrections={corrections}",
    ) as running:
        running.corrections = corrections
        yield running


@pytest.fixture
def saved(service):
    """The file of corrections, empty."""
    service.corrections.write_bytes(b"")
    return service.corrections


@pytest.fixture(scope="session")
def predictor(models):
    """The model that the service has."""
    return Predictor.open(models / "a.h5", models / "a.reranker.h5")


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """A model of an Annif corpus with notations."""
    folder = tmp_path_factory.mktemp("library")
    records = []
    for text, names in zip(TEXTS, SUBJECTS, strict=True):
        uris = " ".join(URI(name) for name in names)
        records.append(f"{text}\t{uris}\n")
    (folder / "train.tsv").write_text("".join(records))
    subjects = ["uri,label_en,notation\n"]
    for name, notation in (("cats", "636.8"), ("dogs", ""), ("birds", "598")):
        subjects.append(f"{URI(name)},{name},{notation}\n")
    (folder / "animals.csv").write_text("".join(subjects))
    return prepare_and_train(
        folder,
        "--format=annif",
        f"--train={folder}/train.tsv",
        f"--vocabulary={folder}/animals.csv",
        "--min-df=1",
        "--max-df=1.0",
    )
