import pytest
import yaml
from config_factory import MINE_DATASET, find_config_error, make_config

from ovaflow.methods.rembrandt.files import runs_by_embedding
from ovaflow.settings import paths
from ovaflow.settings.predict import Predict


def test_runs_that_embed_alike_share_the_embedding() -> None:
    runs = """
    a: {method: rembrandt, rank: 7}
    b: {method: rembrandt, rank: 7, features: gaussian, decoder_C: 5}
    c: {method: rembrandt, rank: 7, ridge: [0, 2.5]}
    d: {method: rembrandt, rank: 9, embedding: none}
    """
    found = runs_by_embedding(make_config(yaml.safe_load(runs)))
    assert list(found) == ["rembrandt-7-p20-q1-ridge1-0", "rembrandt-7-p20-q1-ridge0_2.5-0", "none"]


def test_runs_held_out_alike_share_a_fold() -> None:
    runs = {
        "msi": {},
        "zero": {"initialization": "zero"},
        "more": {"rerank": 0.25},
        "not": {"rerank": 0},
    }
    ours = make_config(runs, predict={"rerank": 0.1})
    assert paths.name_derived_datasets(ours) == ["mine/held-out-0.1", "mine/held-out-0.25"]
    measured = [f"results/mine/{run}/reliability.json" for run in ("msi", "zero", "more")]
    assert paths.find_second_stage_files(ours, paths.RELIABILITY) == measured


FEATURES = {"format": "svmlight", "train": "a.svm"}
OLD = {"initialization": "pretrained", "pretrained": "old.h5"}


@pytest.mark.parametrize(
    ("share", "mine", "run"),
    [
        (0.2, MINE_DATASET, {}),
        (0.2, MINE_DATASET, {"method": "fastxml"}),
        (0, MINE_DATASET, {"rerank": 0}),
        (0.2, MINE_DATASET, OLD),
        (0, MINE_DATASET, OLD | {"retrain": "new"}),
        (0.2, {"source": "builtin"}, {}),
        (0, FEATURES, {}),
        (0.1, FEATURES, {"rerank": 0.1}),
        (0, {"source": "catalogue"}, {}),
        (0.2, MINE_DATASET | {"tfidf": False}, {"rerank": "auto"}),
    ],
)
def test_a_fifth_of_texts_is_held_out_by_default(mine, run, share) -> None:
    ours = make_config({"a": run}, mine)
    assert paths.name_derived_datasets(ours) == [f"mine/held-out-{share}"] * bool(share)
    assert ours.section("predict", "mine", "a").rerank == share
    assert ours.section("predict", "mine/held-out-0.2", "a") == Predict(top_k=50, rerank=0)


ADDRESS = "https://example.org/a/b%20c;d.csv.gz?x=1#y"


@pytest.mark.parametrize(
    ("train", "expected"),
    [
        (MINE_DATASET["train"], MINE_DATASET["train"]),
        (ADDRESS, "downloads/mine/train/b_c_d.csv.gz"),
    ],
)
def test_raw_files(train, expected) -> None:
    assert paths.find_raw_files(make_config(mine=MINE_DATASET | {"train": train}), "mine") == {
        "train": expected
    }


@pytest.mark.parametrize(
    ("address", "name"),
    {
        "https://h/a%2F..%2F..%2Fb.csv": "a_.._.._b.csv",
        "https://h/-rf.csv.gz?x=/y": "_rf.csv.gz",
        "https://h/%7Bx%7D%0A*.csv": "_x___.csv",
        "https://h/": "data",
        f"https://h/{'a' * 500}.csv.gz": f"{'a' * 93}.csv.gz",
    }.items(),
)
def test_names_of_downloads(address, name) -> None:
    assert paths.make_download_name(address) == name


@pytest.mark.parametrize(
    "path", ["{x}", "a\nb", "", "ftp://h/a", "https://h/{x}", "https://", "s3://"]
)
def test_illegal_paths(path) -> None:
    assert find_config_error({"datasets": {"mine": MINE_DATASET | {"train": path}}}).startswith(
        "datasets.mine.train: "
    )


@pytest.mark.parametrize(
    "path",
    ['it\'s "$(touch x)" `y`.csv', "-rf", "é中", "https://${USER}:${KEY}@h/a?t=${B}", "s3://b/a"],
)
def test_legal_paths(path) -> None:
    assert make_config(mine=MINE_DATASET | {"train": path}).datasets["mine"].train == path
