"""Names in config files that YAML takes for something else: as they are written, or refused."""

import pytest
import yaml
from config_factory import find_config_error, make_config
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from ovaflow.console.errors import InputError
from ovaflow.settings.config import load_config
from ovaflow.settings.configuration import Config, DatasetEntry, RunEntry
from ovaflow.settings.predict import Report
from ovaflow.settings.prepare import Prepare

LISTS = ("text_column", "labels_column", "include", "exclude", "missing")
FREE = sorted(Prepare.texts() - {"encoding"})


def read_config(folder, text) -> Config:
    """Read a config file as the workflow does: our loader checks it, Snakemake's loads it."""
    path = folder / "my.yaml"
    path.write_text(text, encoding="utf-8")
    ours = make_config(**load_config(path))
    assert make_config(**yaml.safe_load(text)) == ours
    return ours


def find_error(folder, text) -> str:
    """Return the complaint about a config file, without its path."""
    with pytest.raises(InputError) as caught:
        read_config(folder, text)
    return str(caught.value).removeprefix(f"{folder / 'my.yaml'}, ")


CODES = st.one_of(
    st.from_regex(r"[-+]?[0-9][0-9_.:eE+-]{0,7}", fullmatch=True),
    st.from_regex(r"[-+]?0[xbo]?[0-9a-fA-F_]{1,5}", fullmatch=True),
    st.from_regex(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}", fullmatch=True),
    st.from_regex(r"[+-]?\.(inf|Inf|nan|NaN|[0-9]+)", fullmatch=True),
    st.sampled_from(
        [
            "y",
            "n",
            "yes",
            "NO",
            "No",
            "on",
            "Off",
            "true",
            "FALSE",
            "null",
            "~",
            "Null",
            "=",
            "<<",
            "NA",
        ]
    ),
)


def is_plain(code) -> bool:
    """Return whether a text is one value of a YAML file, by the loader that takes all for texts."""
    try:
        return yaml.load(f"[{code}]", yaml.BaseLoader) == [code]
    except yaml.YAMLError:
        return False


@given(
    st.one_of(
        CODES, st.text("0123456789_.:-+eExXbonNOyYsStTrRuUfFaAlL~=", min_size=1, max_size=6)
    ).filter(is_plain)
)
@example("250.10")
@example("010")
@example("NO")
@example("1e5")
@example("1_000")
@example("12:30")
@example("2024-01-01")
@example("-5")
@example("null")
def test_a_code_is_what_is_written_or_must_be_put_in_quotes(tmp_path_factory, code) -> None:
    path = tmp_path_factory.getbasetemp() / "codes.yaml"

    def prepare(name, code):
        path.write_text(f"prepare: {{{name}: {code}}}", encoding="utf-8")
        load_config(path)
        # the workflow has what Snakemake reads
        return getattr(Prepare.model_validate(yaml.safe_load(path.read_text())["prepare"]), name)

    for name in FREE:
        for entry in (code, f"[{code}]") if name in LISTS else (code,):
            nothing = entry == code and entry in ("null", "Null", "NULL", "~")
            try:
                found = prepare(name, entry)
            except InputError as error:
                advice = str(error).rpartition("; ")[2]
                found = (
                    prepare(name, entry.replace(code, f"'{code}'"))
                    if advice == "put it in quotes"
                    else advice
                )
            except ValidationError:
                # null is no text, and must not be none where it is not legal
                assert nothing
                continue
            assert found in (code, [code]) or (nothing and found is None), (name, entry)


@pytest.mark.parametrize(
    ("content", "expected"),
    {
        "prepare:\n  exclude: [a, 250.10]": (
            "line 2: prepare.exclude: YAML takes 250.10 for a number"
        ),
        "prepare: {include: 010}": "line 1: prepare.include: YAML takes 010 for a number",
        "prepare: {language: no}": "line 1: prepare.language: YAML takes no for a truth value",
        "prepare: {exclude: [2024-01-01]}": (
            "line 1: prepare.exclude: YAML takes 2024-01-01 for a date"
        ),
        "prepare: {exclude: [a, null]}": "line 1: prepare.exclude: YAML takes null for nothing",
        "prepare:\n  exclude:\n  - a\n  -": (
            "line 4: prepare.exclude: YAML takes an empty entry for nothing"
        ),
        "prepare: {label_separator: =}": (
            "line 1: prepare.label_separator: YAML takes = for no text"
        ),
        "datasets:\n  a:\n    format: csv\n    train: [a.csv, 12:30]": (
            "line 4: datasets.a.train: YAML takes 12:30 for a number"
        ),
        "datasets: {a: {format: csv, train: a, extra: {010: 2}}}": (
            "line 1: datasets.a.extra: YAML takes 010 for a number"
        ),
        # codes that stand elsewhere
        "x: &codes [5, 010]\nprepare: {exclude: *codes}": (
            "line 1: prepare.exclude: YAML takes 010 for a number"
        ),
        "datasets: {a: {source: builtin, <<: {exclude: [NO]}}}": (
            "line 1: datasets.a.exclude: YAML takes NO for a truth value"
        ),
        # the section of a module
        "mine: {ours: {prepare: {exclude: [010]}}}": (
            "line 1: ours.prepare.exclude: YAML takes 010 for a number"
        ),
    }.items(),
)
def test_the_setting_and_what_is_written_are_named(tmp_path, content, expected) -> None:
    assert find_error(tmp_path, content) == f"{expected}; put it in quotes"


@pytest.mark.parametrize(
    ("expected", "content"),
    {
        "prepare.exclude: found 250.1, expected a text that is not empty; put it in quotes": {
            "exclude": [250.1]
        },
        'exclude: found {"Tools": "hand"}, expected a text that is not empty; put it': {
            "exclude": [{"Tools": "hand"}]
        },
        "prepare.include: found null, expected a text that is not empty; put it in quotes": {
            "include": None
        },
        'found ["a", false], expected a list, each entry a text; put it in quotes': {
            "text_column": ["a", False]
        },
        "prepare.id_column: found 1.5, expected a text that is not empty; put it in quotes": {
            "id_column": 1.5
        },
        'stems: found false, expected a language, such as finnish or "no" in quotes': {
            "features": [{"stems": False}]
        },
    }.items(),
)
def test_other_programs_values_are_refused_likewise(expected, content) -> None:
    assert expected in find_config_error({"prepare": content})


def test_keys_that_are_texts_are_merged(tmp_path) -> None:
    text = "x: &x {b.csv: 2}\ndatasets: {a: {format: csv, train: a, extra: {<<: *x, c.csv: 3}}}"
    (tmp_path / "my.yaml").write_text(text)
    assert load_config(tmp_path / "my.yaml")["datasets"]["a"]["extra"] == {"b.csv": 2, "c.csv": 3}


def test_numbers_of_other_settings_are_as_they_were(tmp_path) -> None:
    settings = read_config(
        tmp_path, "prepare: {max_features: 1_000, seed: 0x10, html: yes, include: [5, '010', 1e5]}"
    )
    expected = Prepare(max_features=1000, seed=16, html=True, include=["5", "010", "1e5"])
    assert settings.prepare == expected


def test_every_text_of_a_section_is_a_name(tmp_path) -> None:
    sections = {
        "prepare": Prepare,
        "report": Report,
        "datasets.a": DatasetEntry,
        "runs.a": RunEntry,
    }
    assert {name for name, model in sections.items() if not model.texts()} == set()
    assert Prepare.texts() >= {
        "stop_words",
        "language",
        "hierarchy",
        "label_map",
        "group_column",
        "split_column",
    }
    assert not Prepare.texts() & {"features", "min_df", "split"}
    assert Config.texts() == {"datasets", "runs"}
    for section, model in sections.items():
        for name in model.texts():
            path = f"{section}.{name}"
            text = (
                "".join(f"{{{key}: " for key in path.split("."))
                + "010"
                + "}" * (path.count(".") + 1)
            )
            assert find_error(tmp_path, text).startswith(
                f"line 1: {path}: YAML takes 010 for a number"
            )
