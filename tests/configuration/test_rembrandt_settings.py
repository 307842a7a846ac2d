"""Runs with method: rembrandt."""

import pytest

from ovaflow.configuration import files, steps
from ovaflow.configuration.resolve import resolve
from ovaflow.configuration.schema import Embedding, Method, Train, Trees
from ovaflow.console.errors import InputError

MINE = {"mine": {"format": "csv", "train": "a.csv"}}


def settings(run, more=None, **sections):
    runs = {"embedded": {"method": "rembrandt", **run}} | (more or {})
    return resolve({"runs": runs, **sections}, {"datasets": MINE})


def test_a_run_may_set_its_own():
    ours = settings({"rank": 7, "decoder_C": 2}, rembrandt={"rank": 9, "ridge": 3}, train={"shards": 3})
    assert ours.embedding_of("embedded") == Embedding(rank=7, decoder_C=2, ridge=3)
    assert {"--rank=7", "--ridge=3.0", "--embedding=rembrandt"} <= set(steps.embed_options(ours, "embedded"))
    assert steps.decoder_options(ours, "embedded")[:2] == ["--shards=3", "--C=2.0"]


def test_runs_that_embed_alike_share_the_embedding():
    same = {"method": "rembrandt", "rank": 7, "features": "gaussian", "decoder_C": 5}
    ours = settings({"rank": 7}, {"same": same, "other": {"method": "rembrandt", "rank": 8}})
    assert len(files.embeddings(ours)) == 2


def test_linear_features_need_no_settings():
    assert steps.project_options(settings({}), "embedded") == ["--decoder=auto", "--features=linear"]
    random = steps.project_options(settings({"features": "laplacian", "bandwidth": 2}), "embedded")
    assert {"--random-features=4000", "--bandwidth=2.0", "--seed=0"} <= set(random)


OTHERS = {*Train.model_fields, *Method.model_fields, *Trees.model_fields} - {"method", "shards", "threads"}


@pytest.mark.parametrize("key", sorted(OTHERS - set(Embedding.model_fields)))
def test_what_rembrandt_does_not_know(key):
    value = {"sweep": {"C": [1]}, "pretrained": "x", "initialization": "zero"}.get(key)
    value = getattr(Train(), key, getattr(Trees(), key, None)) if value is None else value
    given = {"initialization": "pretrained"} if key == "pretrained" else {}
    with pytest.raises(InputError, match=r"runs\.embedded: \w+ is no setting of method: rembrandt$"):
        settings({key: value, **given})


@pytest.mark.parametrize("method", ["one-vs-all", "fastxml"])
@pytest.mark.parametrize("key", sorted(set(Embedding.model_fields) - {"seed"}))
def test_what_only_rembrandt_knows(method, key):
    with pytest.raises(InputError, match=rf"runs\.msi: {key} is no setting of method: {method}$"):
        resolve({"runs": {"msi": {"method": method, key: getattr(Embedding(), key)}}}, {"datasets": MINE})


def test_figures_and_kernels():
    ours = settings({})
    assert files.figure_files(ours) == ["results/mine/embedded/embedding.json"]
    assert steps.warm_up_options(ours) == ["--rembrandt"]
