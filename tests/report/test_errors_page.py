"""The page of errors: harmless, linked from the report, and filtered in a real browser."""

import re
import shutil
from pathlib import Path

import pytest
from commands import ovaflow

from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation.errors import RunErrors
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.prediction.predictions import Predictions
from ovaflow.report import errors_page
from ovaflow.report.errors_page import fold_text, render_errors


@pytest.fixture(scope="module")
def folder(runs, tmp_path_factory) -> Path:
    """A run with its page of errors."""
    copy = tmp_path_factory.mktemp("errors") / "mine"
    shutil.copytree(runs[0].parent, copy)
    run = copy / "msi"
    ovaflow(
        "evaluate",
        run / "predictions.h5",
        f"--dataset={copy}/dataset.h5",
        f"--model={run}/model.h5",
        f"--training={run}/training.h5",
        f"--output={run}/metrics.json",
        f"--errors={run}/errors.html",
    )
    return copy


@pytest.fixture
def errors(folder) -> RunErrors:
    dataset = open_dataset(folder / "dataset.h5")
    predictions = Predictions.open(folder / "msi" / "predictions.h5")
    return RunErrors(dataset, EvaluatedPredictions.from_predictions(predictions, dataset.test.Y))


def test_names_and_texts_do_nothing(folder) -> None:
    page = (folder / "msi" / "errors.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("<script>") == 1
    assert not re.search(r"<(img|b)\b[^>]*(onerror|old)", page)
    assert "<b>mine" not in page
    assert "mine</bdi>/<bdi>msi</bdi>" in page


def test_it_holds_the_worst_records_and_says_so(errors, monkeypatch) -> None:
    monkeypatch.setattr(errors_page, "MAX_RECORDS", 7)
    page = render_errors("mine", "msi", errors)
    rows = [int(row) for row in re.findall(r'data-row="(\d+)"', page)]
    assert rows == errors.labelled_rows[:7].tolist()
    assert f"Only the worst 7 of {len(errors.labelled_rows)} are on this page" in page
    monkeypatch.setattr(errors_page, "MAX_RECORDS", len(errors.labelled_rows))
    page = render_errors("mine", "msi", errors)
    assert "Only the worst" not in page
    assert errors.summary() in page


def test_right_labels_are_there_too(errors) -> None:
    page = render_errors("mine", "msi", errors)
    right, _, _ = errors.counts
    assert page.count('<li class="found">') == right[errors.labelled_rows].sum() > 0


WORDS = [f"word{number:03}" for number in range(600)]


@pytest.mark.parametrize("text", [" ".join(WORDS), "unspaced" * 100, " ".join(WORDS[:40]), ""])
def test_a_text_is_there_once_and_whole(text) -> None:
    shown, rest = fold_text(text)
    assert shown + rest == text
    assert len(shown) <= 420
    assert rest == "" or len(shown) > 400
    assert not rest or rest.startswith((" word", "unspaced"[len(shown) % 8 :]))


def test_texts_that_are_cut_in_the_dataset_are_said_to_be(errors, monkeypatch) -> None:
    assert "Of longer texts" not in render_errors("mine", "msi", errors)
    monkeypatch.setattr(errors_page, "EXCERPT_CHARACTERS", 20)
    assert "Of longer texts it has the first 20 characters" in render_errors("mine", "msi", errors)


def test_the_report_links_to_it_wherever_the_page_is(folder, tmp_path) -> None:
    for page in (
        folder.parent / "report.html",
        folder / "msi" / "here.html",
        tmp_path / "report.html",
    ):
        ovaflow("report", folder / "msi", folder / "dismec", f"--output={page}")
        text = page.read_text(encoding="utf-8")
        [link] = re.findall(r'<a href="([^"]*)"><bdi>msi</bdi></a>', text)
        assert (page.parent / link).resolve() == folder / "msi" / "errors.html"


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_filtered_and_sorted_on_a_phone(new_page, folder, errors, scheme) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((folder / "msi" / "errors.html").as_uri())
    records = errors.records(errors.labelled_rows)
    for record in records:
        if record.wrong and "label number" in errors.dataset.label_name(record.wrong[0][0]):
            label = record.wrong[0][0]
            # the last word of a text that is folded
            word = record.text.split()[-1]
            break

    def shown() -> list[int]:
        articles = page.locator("article:visible").all()
        return [int(article.get_attribute("data-row")) for article in articles]

    def find_rows(kinds: tuple[str, ...], words: str = "") -> list[int]:
        """Find the rows of records with the label among these kinds, and with words."""
        rows = []
        for record in records:
            labels = set()
            for kind in kinds:
                labels |= {other for other, _ in getattr(record, kind)}
            if label in labels and words in record.text.lower():
                rows.append(record.row)
        return rows

    assert shown() == errors.labelled_rows.tolist()
    page.get_by_label("label", exact=True).fill(errors.dataset.label_name(label))
    assert shown() == find_rows(("missed", "wrong", "right"))
    page.get_by_label("which is").select_option("missed or wrong")
    assert shown() == find_rows(("missed", "wrong"))
    page.get_by_label("which is").select_option("right")
    assert shown() == find_rows(("right",))
    page.get_by_label("which is").select_option("wrong")
    assert shown() == find_rows(("wrong",))
    page.get_by_label("words in the").fill(word.upper())
    assert shown() == find_rows(("wrong",), word.lower())
    assert shown()
    assert f"{len(shown())} of {len(records)} records" in page.locator("output.shown").inner_text()
    page.get_by_label("sorted by").select_option("row")
    assert shown() == sorted(find_rows(("wrong",), word.lower()))
    page.get_by_role("button", name="Show all").click()
    assert shown() == errors.labelled_rows.tolist()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in re.findall(r"\d+", paper))
    assert (brightness > 384) == (scheme == "light")
    assert complaints == []


@pytest.mark.browser
def test_without_scripts_all_records_are_there(new_page, folder, errors) -> None:
    page = new_page(java_script_enabled=False)
    page.goto((folder / "msi" / "errors.html").as_uri())
    assert page.locator("article:visible").count() == len(errors.labelled_rows)
    assert not page.locator("form").is_visible()
