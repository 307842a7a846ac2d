"""Settings: what the user says against the defaults, and one clear line where it is wrong."""

import json
import re
from pathlib import Path

import config_factory
import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.console.errors import InputError
from ovaflow.dataset.sizes import Shape, write_sizes
from ovaflow.methods.fastxml.settings import FastXML
from ovaflow.methods.rembrandt.settings import Rembrandt
from ovaflow.records.catalogue import find_entry, read_catalogue
from ovaflow.settings.config import load_config, require_files, resolve_config
from ovaflow.settings.configuration import RunMethod, make_json_schema
from ovaflow.settings.paths import find_raw_files
from ovaflow.settings.predict import Predict
from ovaflow.settings.prepare import Prepare
from ovaflow.settings.train import Evaluate, Train

ROOT = Path(__file__).parents[2]
DEFAULTS = {
    "datasets": {"docstrings": {"source": "builtin"}},
    "runs": {"msi": {}, "dismec": {"initialization": "zero"}},
    "train": {"C": 4.0, "shards": 3},
}


def find_error(config) -> str:
    """Return the complaint about a config."""
    return config_factory.find_config_error(config, DEFAULTS)


def test_datasets_and_runs_are_replaced_whole_and_others_merge_with_the_defaults() -> None:
    config = {
        "datasets": {"mine": {"format": "csv", "train": "a.csv"}},
        "runs": {"only": {}},
        "train": {"epsilon": 1},
    }
    settings = resolve_config(config, DEFAULTS)
    assert (list(settings.datasets), list(settings.runs)) == (["mine"], ["only"])
    assert settings.train == Train(C=4.0, shards=3, epsilon=1.0)
    assert list(resolve_config({"train": {"C": 2}}, DEFAULTS).datasets) == ["docstrings"]


def test_a_dataset_and_a_run_may_set_their_own() -> None:
    config = """
    datasets: {mine: {format: csv, train: a.csv, max_features: null, propensity_a: 0.6}}
    runs: {strict: {epsilon: 0.001, top_k: 10}, plain: {}}
    prepare: {max_features: 1000}
    predict: {top_k: 3}
    """
    settings = resolve_config(yaml.safe_load(config), DEFAULTS)
    assert settings.section("prepare", dataset="mine") == Prepare()
    assert settings.section("evaluate", dataset="mine") == Evaluate(propensity_a=0.6)
    assert settings.train_settings("strict") == Train(C=4.0, shards=3, epsilon=0.001)
    assert settings.section("predict", run="strict") == Predict(top_k=10)
    assert settings.section("predict", run="plain") == Predict(top_k=3)


def test_values_of_the_command_line_are_texts() -> None:
    settings = resolve_config(
        {"train": {"C": "2", "epsilon": "1e-2", "shards": "4"}, "prepare": {"tfidf": "true"}},
        DEFAULTS,
    )
    assert settings.train == Train(C=2.0, epsilon=0.01, shards=4)
    assert settings.prepare.tfidf is True
    assert (
        resolve_config(
            {"prepare": {"max_features": "null", "min_df": "0.5"}}, DEFAULTS
        ).prepare.min_df
        == 0.5
    )


NO_LIST = "train: a list is only for texts, and of paths rather than addresses"


@pytest.mark.parametrize(
    ("config", "expected"),
    {
        "trian: {}": "trian: unknown key; did you mean train?; legal here: datasets, runs, prepare",
        "predict: {rerank: 1}": (
            "predict.rerank: found 1, expected a number of at least 0 and below 1"
        ),
        "train: {min_df: 2}": (
            "train.min_df: unknown key; it belongs to prepare; legal here: C, loss"
        ),
        "train: {C: -1}": "train.C: found -1, expected a number above 0",
        "train: {shards: 1.5}": (
            "train.shards: found 1.5, expected a whole number of at least 1 and of at most 100000"
        ),
        "train: {loss: logistics}": (
            'train.loss: found "logistics", expected squared-hinge or logistic'
        ),
        "datasets: {a: {source: builtin, min_df: 9, max_df: 8}}": (
            "datasets.a: min_df (9) must not be above max_df (8)"
        ),
        "datasets: {a: {source: builtin, split_column: part, split: stratified}}": (
            "datasets.a: split_column (part) divides the records itself; leave out split: "
            "stratified"
        ),
        "train: 3": "train: found 3, expected a mapping",
        "train: {false: 3}": "train: the key false is not a text; put it in quotes",
        "datasets: {x: {extra: {a.csv: 2x}}}": (
            'datasets.x.extra.a.csv: found "2x", expected a number above 0'
        ),
        "train: {s: -3, loss: logistic}": "runs.msi: t (-3.0) must be below s (-3.0)",
        "runs: {a: {initialization: mean-seperating}}": "did you mean mean-separating?",
        "{runs: {a: {initialization: bias}}, prepare: {bias: 0}}": (
            "runs.a: the bias start needs a bias feature, and docstrings has bias: 0"
        ),
        "runs: {}": "runs: found {}, expected a mapping of keys to values with at least one entry",
        "datasets: {x: {}}": "datasets.x: needs either source",
        "datasets: {x: {source: builtin, train: a}}": "datasets.x: source: builtin excludes train",
        "datasets: {x: {format: npz, train: X.npz}}": (
            "datasets.x: train_labels goes with format: npz"
        ),
        "runs: {dataset.h5: {}}": "name of a result file",
        "datasets: {mine: {format: npz, train: [a.npz, b.npz]}}": f"datasets.mine: {NO_LIST}",
        "datasets: {mine: {format: csv, train: [a.csv, 'https://example.org/b.csv']}}": (
            f"datasets.mine: {NO_LIST}"
        ),
    }.items(),
)
def test_what_is_wrong_is_said_in_one_line(config, expected) -> None:
    assert expected in find_error(yaml.safe_load(config))


@pytest.mark.parametrize(
    "name", ["", "-a", "..", "a b", "a/b", "$(a)", "a'b", "ä", "a\n", "a" * 101, 2024, True]
)
def test_names_that_are_not_safe_file_names_are_refused(name) -> None:
    for config in ({"datasets": {name: {"source": "builtin"}}}, {"runs": {name: {}}}):
        assert "cannot be a name" in find_error(config)


@given(st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", fullmatch=True))
def test_safe_names_are_taken(name) -> None:
    assert list(resolve_config({"runs": {name: {}}}, DEFAULTS).runs) == [name]


def test_datasets_of_the_catalogue_become_downloaded_files() -> None:
    datasets = {
        "amazon-670k": {"source": "catalogue", "propensity_b": 1.0},
        "again": {"source": "catalogue", "name": "amazon-670k", "tfidf": True},
    }
    settings = resolve_config({"datasets": datasets}, DEFAULTS, catalogue=find_entry)
    assert [entry.train for entry in settings.datasets.values()] == [
        "downloads/amazon-670k/train.txt"
    ] * 2
    assert settings.section("evaluate", dataset="amazon-670k") == Evaluate(
        propensity_a=0.6, propensity_b=1.0
    )
    assert settings.section("evaluate", dataset="again") == Evaluate(
        propensity_a=0.6, propensity_b=2.6
    )
    assert settings.section("prepare", dataset="again") == Prepare(tfidf=True)


def test_every_dataset_of_the_catalogue_makes_an_entry() -> None:
    settings = resolve_config(
        {"datasets": {name: {"source": "catalogue"} for name in read_catalogue()}},
        DEFAULTS,
        catalogue=find_entry,
    )
    for name in settings.datasets:
        files = {f"downloads/{name}/{file}" for file in find_entry(name).files.values()}
        assert set(find_raw_files(settings, name).values()) == files


@pytest.mark.parametrize(
    ("content", "message"),
    {
        b"- 1\n": ": expected a mapping",
        b"a: [\n": ", line 2: not valid YAML",
        b"a:\n\t- 1\n": ", line 2: not valid YAML: found character '\\t'",
        b"train: {C: 1}\nruns: {}\ntrain: {C: 2}\n": (
            ", line 3: not valid YAML: the key 'train' appears twice"
        ),
        b"train: {C: 1,\n  C: 2}\n": ", line 2: not valid YAML: the key 'C' appears twice",
        b"a: !!python/object/apply:os.system ['touch HACKED']\n": (
            ", line 1: not valid YAML: could not determine a constructor"
        ),
        "a: 1\n".encode("utf-16"): ": not valid YAML: 'utf-8' codec can't decode byte 0xff",
        b"a: 2024-13-45\n": ": not valid YAML: month must be in 1..12",
        b"a: !!bool x\n": ": not valid YAML",
        b"a: !!timestamp x\n": ": not valid YAML",
        b"[" * 5000: ": not valid YAML: maximum recursion depth",
        None: ": cannot be read (No such file or directory)",
    }.items(),
)
def test_files_that_are_not_valid(tmp_path, content, message) -> None:
    path = tmp_path / "my.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_config(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_aliases_and_merge_keys_are_legal(tmp_path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text("a: &x {b: 1}\nc: {<<: *x, d: 2}\ne: *x\n")
    assert load_config(path) == {"a": {"b": 1}, "c": {"b": 1, "d": 2}, "e": {"b": 1}}


def commented_defaults() -> dict:
    """Read what the comments of the default config say of every section."""
    text = (ROOT / "config" / "config.yaml").read_text(encoding="utf-8")
    lines = []
    for line in text.splitlines():
        if re.match(r"#(  |[a-z]+:)", line):
            lines.append(line.removeprefix("#"))
    return yaml.safe_load("\n".join(lines))


def test_the_default_config_sets_no_default_and_tells_all_of_them() -> None:
    written = load_config(ROOT / "config" / "config.yaml")
    assert set(written) == {"datasets", "runs"}
    ours = resolve_config(commented_defaults(), written)
    assert ours == resolve_config({}, written)
    for name, section in commented_defaults().items():
        assert sorted(section) == sorted(getattr(ours, name).model_dump())


def test_editors_accept_the_config_files() -> None:
    for path in [ROOT / "config" / "config.yaml", *(ROOT / "config" / "examples").glob("*.yaml")]:
        jsonschema.validate(
            yaml.safe_load(path.read_text(encoding="utf-8")), json.loads(make_json_schema())
        )


def test_editors_describe_every_key_and_refuse_others() -> None:
    schema = json.loads(make_json_schema())
    for config in (
        {"trian": {}},
        {"train": {"c": 1}},
        {"runs": {"a b": {}}},
        {"runs": {"a": {"method": "x"}}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(config, schema)
    sections = {"config file": schema, **schema["$defs"]}
    assert len(sections) > 9
    for name, section in sections.items():
        assert [
            f"{name}: {key}"
            for key, entry in section["properties"].items()
            if "description" not in entry
        ] == []


def test_files_must_be_there_or_what_was_prepared_from_them(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    mine = resolve_config({"datasets": {"mine": {"format": "csv", "train": "a.csv"}}}, DEFAULTS)
    sizes = tmp_path / "results" / "mine" / "sizes.json"
    for made_from in (None, {"train": "b.csv"}):
        if made_from is not None:
            write_sizes(sizes, Shape(1, 1, 1, 1), made_from)
        with pytest.raises(InputError, match=r"no such file: a\.csv"):
            require_files(mine)
    write_sizes(sizes, Shape(1, 1, 1, 1), {"train": "a.csv"})
    require_files(mine)
    assert "a.csv; results/mine/dataset.h5 stays as it is" in capsys.readouterr().err
    (tmp_path / "a.csv").touch()
    require_files(mine)
    assert capsys.readouterr().err == ""
    lists = {"format": "csv", "train": ["a.csv", "*.csv", "b.csv"], "text_column": ["a", "b"]}
    several = resolve_config({"datasets": {"mine": lists}}, DEFAULTS)
    assert several.datasets["mine"].text_column == "a,b"
    with pytest.raises(InputError, match=r"datasets\.mine\.train: no such file: b\.csv"):
        require_files(several)


KEYS = {
    "one-vs-all": {**Train().model_dump(), **dict.fromkeys(RunMethod.model_fields)},
    "fastxml": {**FastXML().model_dump(), "shards": 1, "threads": 1, "weighting": "none"},
    "rembrandt": {**Rembrandt().model_dump(), "shards": 1, "threads": 1},
}
LEGAL = {"sweep": {"C": [1]}, "pretrained": "x", "initialization": "zero"}


@pytest.mark.parametrize("method", KEYS)
def test_each_method_has_its_keys(method) -> None:
    values = {}
    for settings in KEYS.values():
        values |= settings
    values.pop("method")
    for key, value in values.items():
        entry = {"method": method, key: LEGAL.get(key, value)}
        if key == "pretrained":
            entry["initialization"] = "pretrained"
        if key not in KEYS[method]:
            refused = (
                rf"\w+ is not a setting of method: {method}|method: {method} has no C to sweep"
            )
            assert re.fullmatch(rf".*runs\.a: ({refused})", find_error({"runs": {"a": entry}}))
        elif key != "pretrained":
            resolve_config({"runs": {"a": entry}}, DEFAULTS)
