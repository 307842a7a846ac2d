"""The page in a real Chromium: it asks for nothing, sorts, gives its figures away, fits a phone,
runs no name.
"""

import re
import shutil

import numpy as np
import pytest
from commands import ovaflow
from records import read_records

from ovaflow.storage.texts import read_json, write_json

pytestmark = pytest.mark.browser

NAMES = ["=HYPERLINK('x')", "<img src=x onerror=document.title='taken'>", "a-very-long-name-" * 9]
"""Folders of runs that a careless page or spreadsheet would run."""

N_RUNS = 40


@pytest.fixture(scope="module")
def many(runs, tmp_path_factory):
    """The page of many runs, most of which differ from the first in their metrics alone; and their
    names.
    """
    folder = tmp_path_factory.mktemp("many") / "mine"
    folder.mkdir()
    shutil.copy(runs[0].parent / "dataset.h5", folder)
    random = np.random.default_rng(0)
    folders = [
        folder / name
        for name in ["msi", "dismec", *NAMES, *(f"run-{n}" for n in range(N_RUNS - 5))]
    ]
    for number, each in enumerate(folders):
        shutil.copytree(runs[number % 2], each)
        if number > 1:
            metrics = read_json(each / "metrics.json", "metrics")
            for name, spread in (
                ("P@1", 0.05),
                ("train_seconds", 2),
                ("model_bytes", 1),
                ("predict_seconds", 0.5),
            ):
                metrics[name] = float(metrics[name] * np.exp(-spread * random.random()))
            write_json(each / "metrics.json", "metrics", metrics)
    page = folder.parent / "report.html"
    options = [f"--output={page}", "--intended-use=<b>for</b> tests", "--examples=3"]
    ovaflow("report", folders, options)
    return page


@pytest.fixture
def opened(new_page, many):
    """The page, what it asked for, and what it complained of."""
    page = new_page(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    requests = []
    messages = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(many.as_uri())
    return page, requests, messages


def saved(page, link):
    """Rows of the CSV file behind a link."""
    # folded parts have no place to click on
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename.endswith(".csv")
    return read_records(download.value.path())


def column(table, place):
    return table.locator(f"tbody tr > *:nth-child({place})").all_inner_texts()


def test_nothing_is_asked_for_and_no_name_nor_other_script_is_run(opened, many) -> None:
    page, requests, messages = opened
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_timeout(200)
    assert [url for url in requests if not url.startswith("data:")] == [many.as_uri()]
    assert messages == []
    assert page.title() == "ovaflow report: mine"
    for name in NAMES[:2]:
        assert page.get_by_text(name, exact=True).count() > 3
    assert page.locator("img, b:text-is('for')").count() == 0
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text:"
        " 'document.title = 1'}))"
    )
    assert page.title() == "ovaflow report: mine"
    assert "Content Security Policy" in messages[0]


def test_tables_sort_by_keyboard_and_turn_back(opened) -> None:
    page, _, _ = opened
    table = page.locator(".summary table.sortable")
    head = table.locator("tr.heads > th", has_text="training")
    place = 1 + table.locator("tr.heads > th").all_inner_texts().index("training")
    original = column(table, 1)
    values = table.locator(f"tbody tr > *:nth-child({place}) data")
    seconds = [float(value.get_attribute("value")) for value in values.all()]
    assert seconds != sorted(seconds, reverse=True)
    head.get_by_role("button").focus()
    for way, expected in (
        ("descending", sorted(seconds, reverse=True)),
        ("ascending", sorted(seconds)),
    ):
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == way
        assert [float(value.get_attribute("value")) for value in values.all()] == expected
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "none"
    assert column(table, 1) == original
    table.locator("tr.heads > th", has_text="run").get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "none"
    # as people count: run-2 before run-10
    ordered = [name.split()[0] for name in column(table, 1) if name.startswith("run-")]
    assert ordered == [f"run-{n}" for n in range(N_RUNS - 5)]


def test_without_scripts_tables_are_tables(new_page, many) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(many.as_uri())
    assert page.locator("th button").count() == 0
    assert page.locator(".summary tbody tr").count() == N_RUNS


def test_files_hold_the_figures_in_full(opened, runs) -> None:
    page, _, _ = opened
    rows = {row["run"]: row for row in saved(page, page.locator(".summary .below a.saved").first)}
    assert len(rows) == N_RUNS
    for run in runs:
        metrics = read_json(run / "metrics.json", "metrics")
        assert float(rows[run.name]["P@1 [fraction]"]) == pytest.approx(metrics["P@1"], rel=1e-9)
    # a spreadsheet takes it for a text
    assert "'=HYPERLINK('x')" in rows


def test_figures_show_as_many_runs_as_there_are_markers(opened) -> None:
    assert opened[0].locator(".quality ul.legend").first.locator("li").count() == 8


def test_a_link_opens_what_is_folded(new_page, many) -> None:
    page = new_page()
    page.goto(f"{many.as_uri()}#mine.settings")
    assert page.locator("details.settings").get_attribute("open") is not None
    assert page.locator("details.training").get_attribute("open") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(new_page, many, scheme) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page.goto(many.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    cut_off = (
        "[...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth >"
        " each.clientWidth + 1)"
    )
    said = f"{cut_off}.map((each) => getComputedStyle(each.nextElementSibling, '::after').content)"
    assert set(page.evaluate(said)) == {'"→ more columns"'}
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper))) > 384) == (scheme == "light")
