"""What each step depends on."""

import pytest

from ovaflow.configuration import steps
from ovaflow.configuration.resolve import resolve
from ovaflow.console.errors import InputError

MINE = {"mine": {"format": "csv", "train": "a b'c;d.csv.gz"}}


def settings(**sections):
    return resolve(sections, {"datasets": MINE, "runs": {"msi": {}, "dismec": {"initialization": "zero"}}})


def test_prepare_of_a_table_without_test_file():
    assert steps.prepare_options(settings(), "mine") == [
        "--format=csv",
        "--tfidf=true",
        "--normalize",
        "--bias=1.0",
        "--min-df=2",
        "--max-df=0.5",
        "--sublinear",
        "--test-fraction=0.2",
        "--seed=0",
        "--text-column=text",
        "--labels-column=labels",
        "--label-separator=,",
    ]


def test_prepare_of_features():
    features = settings(datasets={"mine": {"format": "xmc-text", "train": "a", "test": "b", "normalize": False}})
    assert steps.prepare_options(features, "mine") == [
        "--format=xmc-text",
        "--tfidf=false",
        "--no-normalize",
        "--bias=1.0",
    ]


@pytest.mark.parametrize(("prune", "stored"), [(0.001, "0.001"), (0.01, "0.01"), (0.1, "0.01")])
def test_shards_keep_enough_to_prune_more_later(prune, stored):
    options = steps.train_options(settings(train={"prune": prune}), "msi")
    assert f"--stored-threshold={stored}" in options
    assert steps.merge_options(settings(train={"prune": prune}), "msi") == [f"--prune={prune}"]


def test_train_depends_on_s_and_t_only_with_the_start_that_uses_them():
    assert "--s=1.0" in steps.train_options(settings(), "msi")
    assert not [option for option in steps.train_options(settings(), "dismec") if option.startswith(("--s=", "--t="))]


def test_train_depends_on_what_is_retrained_only_beside_an_earlier_model():
    now = {"initialization": "pretrained", "pretrained": "model.h5"}
    config = settings(runs={"cold": {}, "all": now, "new": now | {"retrain": "new"}})
    options = {run: set(steps.train_options(config, run)) for run in ("cold", "all", "new")}
    assert not any(option.startswith("--retrain") for option in options["cold"])
    assert options["all"] ^ options["new"] == {"--retrain=all", "--retrain=new"}


def test_a_sweep_retrains_every_label():
    with pytest.raises(InputError, match="retrain keeps weights of one C, sweep changes it"):
        settings(runs={"a": {"sweep": {"C": [1, 2]}, "retrain": "new"}})


def test_negatives_start_where_the_loss_wants_them():
    assert "--t=-2.0" in steps.train_options(settings(), "msi")
    assert "--t=-3.0" in steps.train_options(settings(train={"loss": "logistic"}), "msi")
    assert "--t=-1.5" in steps.train_options(settings(train={"loss": "logistic", "t": -1.5}), "msi")
    assert steps.train_options(settings(train={"t": -2}), "msi") == steps.train_options(settings(), "msi")


def test_propensities_matter_to_training_only_where_they_weigh():
    config = settings(runs={"plain": {}, "weighted": {"weighting": "propensity"}}, evaluate={"propensity_a": 0.6})
    theirs = ["--weighting=propensity", "--propensity-a=0.6", "--propensity-b=1.5"]
    assert steps.weighting_options(config, "mine", "plain") == []
    assert steps.weighting_options(config, "mine", "weighted") == theirs


@pytest.mark.parametrize(
    ("initialization", "own"),
    [
        ("zero", set()),
        ("bias", {"--bias-lambda=2.0"}),
        ("all-negative", {"--root-epsilon=0.01"}),
        ("label-tree", {"--root-epsilon=0.01"}),
        ("mean-separating", {"--s=1.0", "--t=-2.0"}),
    ],
)
def test_train_depends_on_the_settings_of_its_start_alone(initialization, own):
    plain = settings(runs={"a": {"initialization": "zero"}})
    ours = settings(runs={"a": {"initialization": initialization}})
    options = set(steps.train_options(ours, "a")) - {f"--initialization={initialization}"}
    assert options - set(steps.train_options(plain, "a")) == own
    changed = settings(
        runs={"a": {"initialization": initialization}},
        train={"bias_lambda": 3, "root_epsilon": 0.1, "s": 2, "t": -1.5},
    )
    assert len(set(steps.train_options(changed, "a")) - set(steps.train_options(ours, "a"))) == len(own)


def test_regularization_is_an_option_where_it_is_not_the_default():
    assert "--regularization=l1" in steps.train_options(settings(train={"regularization": "l1"}), "msi")
    assert not [option for option in steps.train_options(settings(), "msi") if "regularization" in option]


def test_threads_are_no_dependency():
    one, two = settings(), settings(train={"threads": 2})
    for step in (steps.plan_options, steps.train_options, steps.merge_options):
        assert step(one, "msi") == step(two, "msi")
    assert steps.predict_options(one, "docstrings", "msi") == steps.predict_options(two, "docstrings", "msi")
