"""The page of errors: harmless, linked from the report, and filtered in a real browser."""

import re
import shutil

import pytest
from commands import ovaflow

from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.errors import RunErrors
from ovaflow.prediction.predictions import Predictions
from ovaflow.report import errors_page
from ovaflow.report.errors_page import render_errors


@pytest.fixture(scope="module")
def folder(runs, tmp_path_factory):
    """A run with its page of errors."""
    copy = tmp_path_factory.mktemp("errors") / "mine"
    shutil.copytree(runs[0].parent, copy)
    run, files = copy / "msi", ("dataset", "model", "training")
    options = [f"--{name}={copy if name == 'dataset' else run}/{name}.h5" for name in files]
    ovaflow("evaluate", run / "predictions.h5", *options, f"--output={run}/metrics.json", f"--errors={run}/errors.html")
    return copy


@pytest.fixture
def errors(folder):
    return RunErrors(open_dataset(folder / "dataset.h5"), Predictions.open(folder / "msi" / "predictions.h5"))


def test_names_and_texts_do_nothing(folder):
    page = (folder / "msi" / "errors.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("<script>") == 1
    assert not re.search(r"<(img|b)\b[^>]*(onerror|old)", page)
    assert "<b>mine" not in page
    assert "mine</bdi>/<bdi>msi</bdi>" in page


def test_it_holds_the_worst_records_and_says_so(errors, monkeypatch):
    monkeypatch.setattr(errors_page, "MOST", 7)
    page = render_errors("mine", "msi", errors)
    rows = re.findall(r'data-row="(\d+)"', page)
    assert list(map(int, rows)) == errors.rows[:7].tolist()
    assert "Only the worst 7 are on this page" in page
    monkeypatch.setattr(errors_page, "MOST", len(errors.rows))
    assert "Only the worst" not in render_errors("mine", "msi", errors)


def test_the_report_links_to_it_wherever_the_page_is(folder, tmp_path):
    for page in (folder.parent / "report.html", folder / "msi" / "here.html", tmp_path / "report.html"):
        ovaflow("report", folder / "msi", folder / "dismec", f"--output={page}")
        links = re.findall(r'<a href="([^"]*)">errors of <bdi>msi</bdi>', page.read_text(encoding="utf-8"))
        assert [(page.parent / link).resolve() for link in links] == [folder / "msi" / "errors.html"]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_filtered_and_sorted_on_a_phone(new_page, folder, errors, scheme):
    page, complaints = new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((folder / "msi" / "errors.html").as_uri())
    records = errors.records(errors.rows)
    label = next(each.wrong[0][0] for each in records if "label number" in errors.dataset.label_name(each.wrong[0][0]))
    word = next(iter(next(each for each in records if each.wrong[0][0] == label).text.split()))

    def shown():
        return [int(each.get_attribute("data-row")) for each in page.locator("article:visible").all()]

    def those(kinds, words=""):
        return [
            each.row
            for each in records
            if any(label == other for kind in kinds for other, _ in getattr(each, kind)) and words in each.text.lower()
        ]

    assert shown() == errors.rows.tolist()
    page.get_by_label("label", exact=True).fill(errors.dataset.label_name(label))
    assert shown() == those(("missed", "wrong"))
    page.get_by_label("which is").select_option("wrong")
    assert shown() == those(("wrong",))
    page.get_by_label("words in the").fill(word.upper())
    assert shown() == those(("wrong",), word.lower())
    assert shown()
    assert f"{len(shown())} of {len(records)} records" in page.locator("output.shown").inner_text()
    page.get_by_label("sorted by").select_option("row")
    assert shown() == sorted(those(("wrong",), word.lower()))
    page.get_by_role("button", name="Show all").click()
    assert shown() == errors.rows.tolist()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper))) > 384) == (scheme == "light")
    assert complaints == []


@pytest.mark.browser
def test_without_scripts_all_records_are_there(new_page, folder, errors):
    page = new_page(java_script_enabled=False)
    page.goto((folder / "msi" / "errors.html").as_uri())
    assert page.locator("article:visible").count() == len(errors.rows)
    assert not page.locator("form").is_visible()
