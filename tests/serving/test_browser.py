"""The page in a real browser, used by mouse and keyboard, with hostile names and texts."""

import json
import re
from urllib.parse import quote

import pytest
from animals import train_animals
from contrast import compute_contrast
from running_service import running_service

pytestmark = pytest.mark.browser

TEXT = (
    "word00 größe0 and WORD11; \U00010400Ⅳx\U000104003 "
    "<img src=x onerror=\"document.title='taken'\"> word92"
)


@pytest.fixture
def page(new_page, service):
    """A page; the test fails if it reports an error or sends a request to another server."""
    page = new_page()
    complaints = []

    def check_console(message) -> None:
        if "status of 503" not in message.text:
            complaints.append(message.text)

    def check_request(request) -> None:
        if not request.url.startswith((service.url, "data:")):
            complaints.append(request.url)

    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", check_console)
    page.on("request", check_request)
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    yield page
    assert page.title().removeprefix("• ") == "Labels for a text · ovaflow"
    assert not complaints


def predict(page, service, text) -> None:
    page.goto(service.url)
    page.get_by_role("textbox", name="Your text").fill(text)
    page.get_by_role("button", name="Find labels").click()
    page.wait_for_selector("#why:not([hidden])")


def read_names(page, where) -> list[str]:
    return page.locator(f"{where} bdi").all_text_contents()


def list_strong_words(words, key, strongest) -> list[str]:
    """List the words that the page shows: those of more than a fiftieth of the strongest."""
    return [word["feature"] for word in words if abs(word[key]) > 0.02 * strongest][:12]


def test_a_pasted_text_gets_its_labels_and_each_its_reasons(page, service, predictor) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    predict(page, service, TEXT)
    theirs = service.answer("/predict", {"text": TEXT, "top_k": 10})
    labels = theirs["predictions"][0]["labels"]
    ours = read_names(page, "#labels")
    assert ours == [label["name"] for label in labels]
    assert sorted(ours) == sorted(predictor.label_names)
    percentages = []
    for shown in page.locator("#labels data").all_text_contents():
        percentages.append(int(re.fullmatch(r"[<>]? ?(\d+) %", shown)[1]))
    assert percentages == pytest.approx([100 * label["score"] for label in labels], abs=1)
    assert page.get_by_role("status").first.text_content().startswith("10 labels from")
    assert page.locator("#marked").text_content() == TEXT
    marked = page.locator("#marked mark").all_text_contents()
    assert len(marked) >= 3
    assert set(marked) <= {"word00", "größe0", "WORD11", "Ⅳx\U000104003", "word92"}
    page.get_by_role("button", name="Copy as JSON").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText().then(JSON.parse)") == theirs
    label = labels[3]
    page.locator("#labels button.label").nth(3).click()
    page.wait_for_function(
        "name => document.getElementById('why-title').textContent === name", arg=label["name"]
    )
    assert read_names(page, "#labels [aria-pressed=true]") == [label["name"]]
    theirs = service.answer("/explain", {"text": TEXT, "labels": [label["id"]], "words": 15})
    reasons = theirs["labels"][0]
    most = max(abs(word["contribution"]) for word in reasons["up"] + reasons["down"])
    for side, key in (("#for", "up"), ("#against", "down")):
        assert read_names(page, side) == list_strong_words(reasons[key], "contribution", most)
    described = service.answer(f"/labels/{label['id']}")
    strongest = list_strong_words(described["up"], "weight", described["up"][0]["weight"])
    assert read_names(page, "#strongest") == strongest
    assert read_names(page, "#nearest") == [other["name"] for other in described["nearest"]]


def read_ticked_names(page) -> list[str]:
    """Read the names of the predicted labels that are ticked."""
    return read_names(page, "#labels li:has(input:checked)")


def predict_again(page, text, record=None) -> None:
    """Find the labels of another text; answer the page's question about the record."""
    page.get_by_role("textbox", name="Your text").fill(text)
    with page.expect_response("**/explain"):
        page.get_by_role("button", name="Find labels").click()
        if record:
            page.get_by_role("button", name=record).click()


def find_fitting_names(service, text) -> list[str]:
    answer = service.answer("/predict", {"text": text, "fit": True})
    return [label["name"] for label in answer["predictions"][0]["labels"]]


def test_labels_that_fit_are_ticked_and_a_person_has_the_last_word(page, service) -> None:
    text = "word70 word71 größe7"
    other = "word90 word91 größe9"
    predict(page, service, text)
    fitting = find_fitting_names(service, text)
    others = find_fitting_names(service, other)
    ours = read_names(page, "#labels")
    assert read_ticked_names(page) == fitting
    assert read_names(page, "#chosen") == fitting
    status = page.locator("#status").text_content()
    n_fitting = len(fitting)
    right = (
        f" and about \\d of these {n_fitting} (is|are) right"
        f"| and probably all {n_fitting} are right"
    )
    assert re.search(f" {n_fitting} of them fit(s, ([<>] )?\\d+ % sure|,({right}))\\.$", status)
    taken = fitting[0]
    added = next(name for name in ours if name not in {*fitting, *others})
    page.get_by_role("checkbox", name=f"Choose {taken}", exact=True).first.uncheck()
    page.get_by_role("checkbox", name=f"Choose {added}", exact=True).first.check()
    predict_again(page, text)
    assert set(read_ticked_names(page)) == {*fitting, added} - {taken}
    predict_again(page, other, "The same record")
    assert set(read_ticked_names(page)) == {*others, added} - {taken}
    predict_again(page, "unheard of", "The same record")
    assert read_names(page, "#chosen") == [added]
    predict_again(page, other, "Another record")
    assert read_ticked_names(page) == others


def save(page) -> str:
    """Save the chosen labels; return the page's message."""
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_function("() => !saving")
    return page.locator("#save-error").text_content() or page.locator("#state").text_content()


def test_what_is_chosen_is_saved_and_the_next_text_begins_afresh(page, service) -> None:
    text = "word70 word71 größe7"
    other = "word90 word91 größe9"
    page.goto(f"{service.url}/#id=record+17&text={quote(text)}")
    page.wait_for_selector("#why:not([hidden])")
    shown = read_names(page, "#labels")
    fitting = find_fitting_names(service, text)
    page.locator("#chosen").get_by_role("button").first.click()
    page.get_by_label(re.compile("Part of its name")).fill("GRÖSSE")
    page.locator("#found").get_by_role("checkbox").check()
    assert page.locator("#found-note").text_content() == "1 found."
    page.locator("#found button.label").click()
    page.locator("#why-title").filter(has_text="Größe").wait_for()
    added = page.locator("#found bdi").text_content()
    said = save(page)
    assert said.startswith("Saved on ")
    assert said.endswith("Compared with the suggested labels: 1 added and 1 taken back.")
    entry = json.loads(service.corrections.read_text().splitlines()[-1])
    assert (entry["id"], entry["text"]) == ("record 17", text)
    assert (entry["labels"], entry["suggested"]) == ([*fitting[1:], added], shown)
    predict_again(page, other)
    assert read_names(page, "#chosen") == find_fitting_names(service, other)
    assert page.get_by_label("Record").input_value() == ""
    page.route(
        "**/corrections",
        lambda route: route.fulfill(status=503, body='{"detail": "no <b>room</b>"}'),
    )
    assert save(page) == "no <b>room</b>"


def test_everything_works_from_the_keyboard(page, service) -> None:
    page.goto(service.url)
    # the language of the page, the text
    for _ in range(2):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.type("word30 word31")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#why:not([hidden])")
    first = page.locator("#why-title").text_content()
    # the button, the number of labels, a file, copy, and two times a tick and its label
    for _ in range(8):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "name => document.getElementById('why-title').textContent !== name", arg=first
    )
    assert page.evaluate("document.activeElement.id") == "why"


@pytest.fixture
def subjects(library, tmp_path, new_page):
    """The page of a model whose labels are subjects: one chosen suggestion, and one that was
    searched.
    """
    with running_service(tmp_path, library, "--marc-source=animals/eng") as service:
        page = new_page(permissions=["clipboard-read", "clipboard-write"])
        predict(page, service, "black cats purr")
        page.locator("#top-k").select_option("5")
        page.get_by_label(re.compile("Part of its name")).fill("598")
        page.locator("#found").get_by_role("checkbox", name="Choose birds").check()
        page.locator("#labels").get_by_role("checkbox", name="Choose cats").check()
        yield page


@pytest.mark.parametrize(
    ("what", "theirs"),
    [
        ("names", "birds\ncats"),
        ("URIs", "http://example.org/birds\nhttp://example.org/cats"),
        (
            "MARC 650",
            "650 #7 $a birds $2 animals/eng $0 http://example.org/birds\n"
            "650 #7 $a cats $2 animals/eng $0 http://example.org/cats",
        ),
    ],
)
def test_chosen_subjects_are_copied(subjects, what, theirs) -> None:
    subjects.get_by_role("button", name=what, exact=True).click()
    subjects.get_by_role("button", name="Copied").wait_for()
    assert subjects.evaluate("navigator.clipboard.readText()") == theirs


def test_chosen_subjects_are_linked_and_can_be_taken_back(subjects) -> None:
    chosen = subjects.locator("#chosen")
    assert chosen.get_by_role("link").all_text_contents() == ["birds598", "cats636.8"]
    assert chosen.get_by_role("link").first.get_attribute("href") == "http://example.org/birds"
    chosen.get_by_role("button", name="Remove birds").click()
    assert chosen.locator("bdi").all_text_contents() == ["cats"]
    assert not subjects.locator("#found [data-choose]").is_checked()
    subjects.locator("#labels").get_by_role("checkbox", name="Choose cats").uncheck()
    assert not subjects.locator("#chosen-part").is_visible()
    assert subjects.get_by_role("button", name="Save", exact=True).count() == 0, "there is no file"


def test_a_link_brings_a_text_and_errors_are_told(page, service) -> None:
    page.goto(f"{service.url}/#text={quote('word50 word51')}")
    page.wait_for_selector("#why:not([hidden])")
    page.route(
        "**/predict",
        lambda route: route.fulfill(status=503, body='{"detail": "later <b>please</b>"}'),
    )
    page.get_by_role("button", name="Find labels").click()
    page.get_by_role("alert").filter(has_text="later <b>please</b>").wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1280, "light")])
def test_nothing_sticks_out_and_everything_can_be_read(new_page, service, width, scheme) -> None:
    page = new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    predict(page, service, TEXT + " word" + "0" * 300)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert min(measure_contrast(page, each) for each in ("body", "#status", "#go")) >= 4.5
    page.goto(f"{service.url}/docs")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def measure_contrast(page, selector) -> float:
    """Measure the contrast of an element's text and its background."""
    colours = page.locator(selector).first.evaluate(
        """one => {
          const colour = getComputedStyle(one).color;
          const none = "rgba(0, 0, 0, 0)";
          while (getComputedStyle(one).backgroundColor === none) one = one.parentElement;
          return [colour, getComputedStyle(one).backgroundColor];
        }"""
    )
    text, background = (_parse_colour(colour) for colour in colours)
    return compute_contrast(text, background)


def _parse_colour(colour) -> list[int]:
    """Parse red, green and blue of a colour such as ``rgb(1, 2, 3)``."""
    return [int(part) for part in re.findall(r"\d+", colour)[:3]]


def test_labels_are_named_in_the_language_of_the_reader(new_page, tmp_path) -> None:
    with running_service(tmp_path, train_animals(tmp_path)) as animals:
        page = new_page(locale="sv-FI", permissions=["clipboard-read", "clipboard-write"])
        predict(page, animals, "cats purr")
        assert page.locator("#labels bdi").first.text_content() == "katter"
        assert page.locator("#why-title").text_content() == "katter"
        page.locator("#labels [data-choose]").first.check()
        page.get_by_role("button", name="MARC 650").click()
        page.get_by_role("button", name="Copied").wait_for()
        # MARC fields have the name of the authority file
        assert "$a cats " in page.evaluate("navigator.clipboard.readText()")
        page.get_by_label("Language of the labels").select_option(label="suomi")
        page.locator("#labels bdi", has_text="kissat").wait_for()
        page.get_by_role("searchbox").fill("koir")
        page.locator("#found bdi", has_text="koirat").wait_for()
