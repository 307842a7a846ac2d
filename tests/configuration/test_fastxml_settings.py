"""Runs with method: fastxml."""

import pytest

from ovaflow.configuration import files, steps
from ovaflow.configuration.resolve import resolve
from ovaflow.configuration.schema import Method, Train, Trees
from ovaflow.console.errors import InputError

MINE = {"mine": {"format": "csv", "train": "a.csv"}}


def settings(run, **sections):
    return resolve({"runs": {"trees": {"method": "fastxml", **run}}, **sections}, {"datasets": MINE})


def test_a_run_may_set_its_own():
    ours = settings({"trees": 7, "balanced": False}, fastxml={"trees": 9, "max_leaf": 4}, train={"shards": 3})
    assert ours.trees_of("trees") == Trees(trees=7, balanced=False, max_leaf=4)
    options = steps.trees_options(ours, "mine", "trees")
    assert {"--trees=7", "--max-leaf=4", "--no-balanced", "--shards=3", "--C-delta=1.0"} <= set(options)
    assert not any(option.startswith(("--weighting", "--propensity")) for option in options)


def test_propensities_of_the_dataset():
    options = steps.trees_options(
        settings({"weighting": "propensity"}, evaluate={"propensity_a": 0.6}), "mine", "trees"
    )
    assert {"--weighting=propensity", "--propensity-a=0.6"} <= set(options)


@pytest.mark.parametrize("key", sorted({*Train.model_fields, *Method.model_fields} - {"method"}))
def test_what_only_one_vs_all_knows(key):
    value = {"sweep": {"C": [1]}, "pretrained": "x"}.get(key, getattr(Train(), key, "zero"))
    given = {"initialization": "pretrained"} if key == "pretrained" else {}
    if key in ("shards", "threads", "weighting"):
        settings({key: value})
        return
    with pytest.raises(InputError, match=r"runs\.trees: \w+ is no setting of method: fastxml$"):
        settings({key: value, **given})


@pytest.mark.parametrize("key", sorted(Trees.model_fields))
def test_what_only_fastxml_knows(key):
    with pytest.raises(InputError, match=rf"runs\.msi: {key} is no setting of method: one-vs-all$"):
        resolve({"runs": {"msi": {key: getattr(Trees(), key)}}}, {"datasets": MINE})


def test_other_sections_of_the_config_do_not_disturb():
    ours = settings({}, train={"C": 3, "trace": 5})
    assert files.figure_files(ours) == ["results/mine/trees/trees.json"]
    assert steps.warm_up_options(ours) == ["--fastxml"]
    assert steps.warm_up_options(resolve({"runs": {"msi": {}}}, {"datasets": MINE})) == ["--problem=squared-hinge/l2"]


def test_nothing_starts_from_trees():
    runs = {"trees": {"method": "fastxml"}, "later": {"initialization": "pretrained", "pretrained": "trees"}}
    with pytest.raises(InputError, match=r"runs\.later\.pretrained: trees has no weights"):
        resolve({"runs": runs}, {"datasets": MINE})
