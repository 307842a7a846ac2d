"""Numbers and categories next to a text, on the page: asked, changed, explained, saved, found again
and linked.
"""

import json
import re
from urllib.parse import urlencode

import pytest
from running_service import running_service
from synthetic import prepare_and_train

from ovaflow.features.columns import FormField, UsualValues
from ovaflow.serving.pages import PAGE_LANGUAGES, render_pages

COLUMNS = ("price", "publisher")
TEXT = "a1 b"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    rows = [f"a{i % 2} b,{1790 + i % 3},p{i % 3},l{i % 3}\n" for i in range(30)]
    (folder / "train.csv").write_text("text,price,publisher,labels\n" + "".join(rows) + "a1,,,l1\n")
    model = prepare_and_train(
        folder,
        "--format=csv",
        f"--train={folder}/train.csv",
        "--min-df=1",
        "--number-columns=price",
        "--category-columns=publisher",
        "--split=last",
        "--test-fraction=0.01",
    )
    corrections = folder / "new.jsonl"
    with running_service(folder, model, f"--corrections={corrections}") as running:
        running.corrections = corrections
        yield running


@pytest.fixture
def page(new_page, service):
    service.corrections.write_bytes(b"")
    page = new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(service.url)
    yield page
    assert not complaints


def fill(page, **values) -> None:
    for name, value in values.items():
        page.get_by_label(name, exact=True).fill(value)


def read_values(page) -> list[str]:
    return [page.get_by_label(name, exact=True).input_value() for name in COLUMNS]


def find(page, text=None) -> dict:
    """Find labels; return the text and columns that the page sent."""
    if text is not None:
        page.locator("#text").fill(text)
    with page.expect_response("**/predict") as asked:
        page.locator("#go").click()
    page.wait_for_function("() => !looking && desk.answer")
    return json.loads(asked.value.request.post_data)["text"]


def read_names(page) -> list[str]:
    return page.locator("#labels bdi").all_text_contents()


def predict_names(service, **record) -> list[str]:
    [answer] = service.answer("/predict", {"text": record, "top_k": 10})["predictions"]
    return [label["name"] for label in answer["labels"]]


def save(page, record) -> None:
    page.locator("#record").fill(record)
    page.locator("#record").blur()
    page.locator("#save-button").click()
    page.locator("#state").filter(has_text=re.compile("^Saved on ")).wait_for()


@pytest.mark.browser
def test_a_column_is_a_field_that_is_asked_with_the_text(page, service) -> None:
    hints = page.locator("#beside .note").all_text_contents()
    options = page.locator("#beside datalist option")
    known = options.evaluate_all("all => all.map((each) => each.value)")
    assert hints == ["usually 1790 to 1792"]
    assert known == ["p0", "p1", "p2"]
    assert find(page, TEXT) == {"text": TEXT, "price": None, "publisher": None}
    for price, publisher in (("1790", "p0"), ("1792", "p2"), ("1791.5", "unheard of")):
        fill(page, price=price, publisher=publisher)
        record = {"text": TEXT, "price": float(price), "publisher": publisher}
        assert find(page) == record
        assert read_names(page) == predict_names(service, **record)
    fill(page, price="1792", publisher="p2")
    find(page)
    page.locator("#why:not([hidden])").wait_for()
    assert "publisher=p2" in page.locator("#for bdi").all_text_contents()


@pytest.mark.browser
def test_what_is_saved_is_what_stands_in_the_fields(page, service) -> None:
    fill(page, price="1790", publisher="p0")
    find(page, TEXT)
    page.locator("#labels [data-choose]").first.check()
    save(page, "b0901")
    fill(page, publisher="p2")
    assert page.locator("#save-button").is_disabled()
    hindrance = page.locator("#hindrance").text_content()
    assert hindrance.startswith("A column next to the text has changed.")
    # it is the same record, so the page does not ask
    find(page)
    save(page, "b0901")
    lines = service.corrections.read_text("utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    assert [[entry[name] for name in ("id", *COLUMNS)] for entry in entries] == [
        ["b0901", 1790, "p0"],
        ["b0901", 1790, "p2"],
    ]
    fill(page, price="", publisher="")
    find(page)
    assert read_values(page) == ["", ""]


@pytest.mark.browser
def test_a_saved_record_comes_back_with_its_columns(page, service) -> None:
    for record, price in (("b0901", 1790), ("b0902", None)):
        text = {"text": f"{TEXT} {record}", "price": price, "publisher": "p1"}
        service.answer("/corrections", {"id": record, "text": text, "labels": ["l2"]})
    page.get_by_text("Saved records", exact=True).click()
    for record, theirs in (("b0901", ["1790", "p1"]), ("b0902", ["", "p1"])):
        with page.expect_response("**/predict"):
            page.locator("#corrections button").filter(has_text=record).first.click()
        assert read_values(page) == theirs
    page.goto("about:blank")
    page.goto(service.url)
    # the same text, pasted without its columns
    page.locator("#text").fill(f"{TEXT} b0901")
    page.locator("#go").click()
    page.wait_for_function("() => !looking && desk.answer")
    assert read_values(page) == ["1790", "p1"]
    assert page.locator("#state").text_content().startswith("Saved on ")
    assert read_names(page) == predict_names(
        service, text=f"{TEXT} b0901", price=1790, publisher="p1"
    )


@pytest.mark.browser
def test_a_link_brings_columns_along_and_another_language_keeps_them(page, service) -> None:
    link = urlencode({"id": "b0903", "text": TEXT, "price": "1791", "publisher": "p1"})
    page.goto(f"{service.url}/#{link}")
    page.wait_for_function("() => !looking && desk.answer")
    assert read_names(page) == predict_names(service, text=TEXT, price=1791, publisher="p1")
    fill(page, price="1792")
    page.locator("#page-language").select_option("de")
    page.wait_for_function(
        "() => document.documentElement.lang === 'de' && !looking && desk.answer"
    )
    assert read_values(page) == ["1792", "p1"]
    assert page.locator("#beside .note").text_content() == "üblich sind 1790 bis 1792"


@pytest.mark.browser
def test_fields_are_filled_from_the_keyboard(page, service) -> None:
    page.locator("#text").fill(TEXT)
    page.locator("#text").press("Tab")
    page.keyboard.type("1792")
    page.keyboard.press("Tab")
    page.keyboard.type("p2")
    with page.expect_response("**/predict") as asked:
        page.keyboard.press("Enter")
    assert json.loads(asked.value.request.post_data)["text"] == {
        "text": TEXT,
        "price": 1792,
        "publisher": "p2",
    }


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out(new_page, service, width, scheme) -> None:
    page = new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(service.url)
    fill(page, price="1792", publisher="p2")
    find(page, TEXT)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_any_declared_column_is_a_field_in_every_language() -> None:
    """The page shows the declarations of each column, and its script treats all columns alike."""

    class Options:
        max_text = 1000
        max_top_k = 50
        marc_source = None
        ask_to_save = "suggested"

    shelf = FormField("<shelf>", False, UsualValues(known=("<A>",)))
    pages_field = FormField("pages", True, UsualValues(least=1, most=9.5))
    declared = [shelf, pages_field]
    for page in render_pages(Options, declared, saves_corrections=True).values():
        html = page.body.decode()
        assert 'type="text" data-column="&lt;shelf&gt;"' in html
        assert '<option value="&lt;A&gt;">' in html
        assert 'type="number" step="any" data-column="pages"' in html
        assert 'data-least="1" data-most="9.5"' in html
    assert len(render_pages(Options, declared, saves_corrections=True)) == len(PAGE_LANGUAGES)
