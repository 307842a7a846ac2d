"""New records on the page, beside the test set."""

import pytest

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.model.model_file import open_any_model
from ovaflow.report.drift import show
from ovaflow.report.gather import gather
from ovaflow.report.page import render
from ovaflow.storage.texts import write_json

DRIFT = {
    "records": 300,
    "unknown_words": {"share": 0.25, "reference": 0.125, "most_frequent": ["<b>und</b>"]},
    "first_score": {"mean": -0.5, "reference": 0.25},
    "first_labels": {
        "distance": 0.5,
        "by_chance": 0.0625,
        "changed": [{"label": "<i>cats</i>", "share": 0.75, "reference": 0.25}],
    },
    "far_off": ["unknown_words"],
}


@pytest.fixture
def evaluation(tmp_path):
    """Writes what evaluate says of a model and a file."""

    def write(checksum):
        entry = {"checksum": checksum, "metrics": {"P@1": 0.375}, "drift": DRIFT}
        write_json(tmp_path / "new.json", "evaluation", {"file": "new/<u>.csv", "models": [entry]})
        return tmp_path / "new.json"

    return write


def test_new_records_beside_the_test_set(runs, evaluation):
    path = evaluation(open_any_model(runs[1] / "model.h5").checksum)
    [results] = gather(runs, new_records=[path])
    [row] = show("mine", results)["figures"].rows
    assert (row.name, row.hint) == ("<u>.csv", "dismec")
    p = results.runs[1].metrics["P@1"]
    values = [300, 0.25, 0.125, -0.5, 0.25, 0.5, 0.0625, 0.375, p]
    assert [cell.value for cell in row.cells] == values
    page = render([results])
    for words in ("&lt;b&gt;und&lt;/b&gt;", "&lt;i&gt;cats", "trained on: many words are unknown."):
        assert words in page
    assert "<b>und" not in page


def test_a_page_without_new_records_has_no_such_section(runs):
    [results] = gather(runs)
    assert show("mine", results) is None


def test_records_of_other_models_are_refused(runs, evaluation):
    with pytest.raises(InputError, match=r"new.json: its models are not those of the runs"):
        gather(runs, new_records=[evaluation("another")])
    assert main(["report", str(runs[0]), "--drift=missing.json", "--output=page.html"]) == 2
