"""Options made of settings: what a config file accepts, the command line accepts in the same
spelling.
"""

import click
import pytest
import yaml
from commands import ovaflow
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError
from step_settings import REQUIRED, parse_options, validate_config

from ovaflow.registry import (
    ONE_VS_ALL,
    all_steps,
    find_method,
    find_reads,
    import_reference,
    method_names,
)
from ovaflow.settings.schema import explain_error


def in_one_line(value):
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...")


OF_METHODS = []
for method_name in method_names():
    for step_name in ("train-shard", "merge", "estimate"):
        if find_method(method_name).reads(step_name):
            OF_METHODS.append((step_name, method_name))


@pytest.mark.parametrize(
    ("step", "method"),
    [(name, ONE_VS_ALL) for name, step in all_steps().items() if step.settings] + OF_METHODS,
)
def test_every_default_can_be_written_as_in_a_config_file(step, method) -> None:
    settings = find_reads(step, method)
    model = import_reference(settings.model)
    for name in settings.fields:
        field = model.model_fields[name]
        if field.is_required() or (field.default is None and name in model.texts()):
            continue
        option = settings.options.get(name, name).replace("_", "-")
        written = str(field.default) if name in model.texts() else in_one_line(field.default)
        arguments = (
            [f"--{option}={written}"] if written != "[]" or name not in model.texts() else []
        )
        assert parse_options(step, arguments, method=method) == validate_config(step, method), name


@pytest.mark.parametrize(
    ("step", "name", "written"),
    [
        ("prepare", "features", "characters: [4, 5]"),
        ("prepare", "features", "[words, 'stems: [finnish, swedish]', names]"),
        ("prepare", "min_df", "1e-2"),
        ("prepare", "min_df", "3"),
        ("prepare", "max_features", "null"),
        ("prepare", "max_features", "20"),
        ("prepare", "tfidf", "yes"),
        ("prepare", "tfidf", "False"),
        ("prepare", "html", "true"),
        ("prepare", "label_names", "no"),
        ("prepare", "extra_weight", "[2, 0.5]"),
        ("choose-features", "candidates", "[words, [words, {characters: [3, 5]}], words+pairs]"),
        ("choose-features", "instances", "null"),
        ("choose-c", "candidates", "[1e-1, 1]"),
        ("train-shard", "epsilon", "1e-3"),
        ("train-shard", "t", "null"),
        ("train-shard", "C", "1e+1"),
        ("embed", "ridge", "[1e-1, 10]"),
        ("embed", "ridge", "2"),
        ("project", "bandwidth", "null"),
        ("tune-decoder", "decoder_C", "[1, 10]"),
    ],
)
def test_a_value_is_the_same_in_a_config_file_as_a_text_and_on_the_command_line(
    step, name, written
) -> None:
    in_config = validate_config(step, **{name: yaml.safe_load(written)})
    option = find_reads(step).options.get(name, name).replace("_", "-")
    assert validate_config(step, **{name: written}) == in_config
    assert parse_options(step, f"--{option}={written}") == in_config


LANGUAGE = st.from_regex("[a-z_]{1,9}", fullmatch=True)
BLOCK = st.one_of(
    st.sampled_from(
        ["words", "pairs", "names", "prefixes", "characters", "prefixes=7", "stems=finnish,swedish"]
    ),
    st.integers(1, 99).map(lambda n: {"prefixes": n}),
    st.tuples(st.integers(1, 9), st.integers(1, 9)).map(
        lambda lengths: {"characters": sorted(lengths)}
    ),
    LANGUAGE.map(lambda name: {"stems": name}),
    st.lists(LANGUAGE, min_size=1).map(lambda names: {"stems": names}),
)


@given(st.lists(BLOCK, min_size=1))
@example([{"stems": "no"}, {"stems": ["null", "y"]}])
def test_blocks_of_features_are_the_same_however_written(blocks) -> None:
    expected = validate_config("prepare", features=blocks).features
    assert validate_config("prepare", features=in_one_line(blocks)).features == expected
    assert parse_options("prepare", f"--features={in_one_line(blocks)}").features == expected
    each = [f"--features={in_one_line(block)}" for block in blocks]
    assert parse_options("prepare", each).features == expected
    assert (
        parse_options("prepare", (f"--features={block}" for block in expected)).features == expected
    )


@given(st.text(min_size=1))
@example("250.10")
@example("NO")
@example("[")
@example("{a: 1}")
@example("[a, b]")
@example(" > ")
@example("010")
@example("Title: 1e5")
@example("null")
def test_texts_are_taken_as_they_are(text) -> None:
    arguments = [
        f"--{name}={text}"
        for name in ("include", "exclude", "label-separator", "id-column", "hierarchy")
    ]
    found = parse_options("prepare", arguments)
    assert found == validate_config(
        "prepare",
        include=[text],
        exclude=text,
        label_separator=text,
        id_column=text,
        hierarchy=text,
    )
    assert (found.include, found.label_separator, found.id_column) == ([text], text, text)


@pytest.mark.parametrize(
    ("step", "name", "written", "expected"),
    [
        (
            "prepare",
            "features",
            "{characters: [4]}",
            "characters: found [4], expected the least and the most letters, each below 10, such as"
            " [4, 5]",
        ),
        (
            "prepare",
            "features",
            "[words, 'characters: [5, 4]']",
            "characters: found [5, 4], expected the least and the most letters, each below 10, such"
            " as [4, 5]",
        ),
        (
            "prepare",
            "features",
            "{prefixes: 100}",
            "prefixes: found 100, expected a number of letters below 100",
        ),
        ("prepare", "features", "pairs=2", 'pairs: found "2", expected nothing'),
        (
            "prepare",
            "features",
            "stems: no",
            'stems: found false, expected a language, such as finnish or "no" in quotes, or a list'
            " of languages",
        ),
        (
            "prepare",
            "features",
            "chars",
            "chars is not a block of features: give words, pairs, names, prefixes or",
        ),
        ("prepare", "column_weights", "[1, -1]", "found -1, expected a number above 0"),
        (
            "prepare",
            "min_df",
            "0.5x",
            'found "0.5x", expected a whole number of at least 1 or a number above 0',
        ),
        ("choose-c", "candidates", "[1, 0]", "found 0, expected a number above 0"),
        (
            "train-shard",
            "epsilon",
            "200",
            "found 200, expected a number above 0 and of at most 100",
        ),
        ("train-shard", "epsilon", "atuo", "of at most 100 or auto; did you mean auto?"),
        ("train-shard", "C", "-1", "found -1, expected a number above 0"),
        ("embed", "ridge", "[1e-1, -1]", "found -1, expected a number of at least 0"),
        ("embed", "ridge", "-1", "found -1, expected a number of at least 0"),
    ],
)
def test_an_error_names_the_alternative_that_was_meant(step, name, written, expected) -> None:
    for value in (written, yaml.safe_load(written)):
        with pytest.raises(ValidationError) as caught:
            validate_config(step, **{name: value})
        content = REQUIRED.get(step, {}) | {name: value}
        assert expected in explain_error(
            caught.value, content, import_reference(find_reads(step).model)
        )
    with pytest.raises(click.BadParameter) as refused:
        parse_options(step, f"--{name.replace('_', '-')}={written}")
    assert expected in refused.value.message


def test_what_the_help_of_features_shows_can_be_written() -> None:
    said = " ".join(ovaflow("prepare", "--help").split())
    for written in ("{prefixes: 6}", "{stems: finnish}", "{characters: [4, 5]}", "characters=4-5"):
        assert written in said
        parse_options("prepare", f"--features={written}")


def test_a_switch_takes_nothing_but_truth_values() -> None:
    said = ovaflow("prepare", "--format=csv", "--html=maybe", "--output=x.h5", status=2)
    assert "Option '--html' does not take a value" in said
