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
    assert steps.decoder_options(ours, "embedded") == ["--shards=3"]
    assert steps.tune_options(ours, "embedded") == ["--C=2.0", "--epsilon=0.1", "--held-out=0.1", "--seed=0"]


def test_values_to_choose_from():
    ours = settings({"decoder_C": [1, 10, 1], "ridge": [0, 2.5]})
    assert steps.tune_options(ours, "embedded")[:2] == ["--C=1.0", "--C=10.0"]
    assert steps.embed_options(ours, "embedded")[-2:] == ["--ridge=0.0", "--ridge=2.5"]
    assert files.embedding_name(ours, "embedded") == "rembrandt-100-p20-q1-ridge0_2.5-0"
    for given in ({"decoder_C": [0]}, {"decoder_C": []}, {"ridge": [-1]}, {"decoder_C": [1, 2], "held_out": 0}):
        with pytest.raises(InputError, match="embedded"):
            settings(given)


def test_without_an_embedding_no_setting_of_it_matters():
    ours = settings({"embedding": "none", "rank": 7}, {"other": {"method": "rembrandt", "embedding": "none"}})
    assert list(files.embeddings(ours)) == ["none"]
    assert steps.embed_options(ours, "embedded") == ["--embedding=none"]


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
