"""The scope of a setting and the meaning of null are defined on its field, and shown everywhere."""

import importlib.util
from pathlib import Path
from typing import Literal, get_args

import pytest

from ovaflow.cli.options import setting_option
from ovaflow.settings.configuration import RunMethod
from ovaflow.settings.prepare import PrepareSource
from ovaflow.settings.section import Scope, Section, setting
from ovaflow.settings.train import Initialization, TrainLabels

_SPEC = importlib.util.spec_from_file_location(
    "reference", Path(__file__).parents[2] / "docs" / "make" / "reference.py"
)
reference = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(reference)

ELECTRIC = Scope("electric kettles", lambda section: section.kind == "electric")


class Kettle(Section):
    """A made-up section with one setting that matters in one place."""

    kind: Literal["gas", "electric"] = setting("gas", "what heats it")
    power: float | None = setting(None, "power in watts", where=ELECTRIC, null="2000", gt=0)

    @property
    def relevant(self):
        return self._exclude(*self.irrelevant_settings)


def test_a_new_setting_is_told_in_schema_reference_and_help() -> None:
    sentence = "electric kettles: power in watts; null: 2000"
    assert Kettle.model_json_schema()["properties"]["power"]["description"] == sentence
    assert f"| {sentence} |\n" in reference._format_fields(Kettle, "key")
    (parameter,) = setting_option(Kettle, "power")(lambda: None).__click_params__
    assert parameter.help == "Electric kettles: power in watts.  [default: 2000]"


def test_it_is_no_parameter_where_it_has_no_effect() -> None:
    assert Kettle(power=1000).relevant == {"kind": "gas"}
    assert Kettle(kind="electric").relevant == {"kind": "electric", "power": None}


@pytest.mark.parametrize("start", get_args(Initialization))
def test_settings_of_starts(start) -> None:
    section = TrainLabels(initialization=start)
    assert section.irrelevant_settings.isdisjoint(section.relevant)
    of_starts = {"s", "t", "bias_lambda", "root_epsilon", "retrain"}
    theirs = {
        "zero": set(),
        "bias": {"bias_lambda"},
        "all-negative": {"root_epsilon"},
        "label-tree": {"root_epsilon"},
        "mean-separating": {"s", "t"},
        "pretrained": {"s", "t", "retrain"},
    }
    assert of_starts & section.relevant.keys() == theirs[start]


def test_settings_of_formats() -> None:
    of_texts = PrepareSource(format="csv")
    ready_made = PrepareSource(format="svmlight")
    assert {"text_column", "quotes", "features", "min_df", "html"} <= of_texts.relevant.keys()
    assert {"text_column", "quotes", "features", "min_df", "html"} <= ready_made.irrelevant_settings
    assert "sheet" in of_texts.irrelevant_settings


def test_a_run_from_another_says_so() -> None:
    assert RunMethod().irrelevant_settings == {"pretrained"}
    assert not RunMethod(initialization="pretrained", pretrained="base").irrelevant_settings
