"""The page in a real browser: what a person does, by mouse and keyboard, with hostile names and
texts.
"""

import json
import re
from urllib.parse import quote

import pytest
from animals import train_animals
from contrast import compute_contrast
from running_service import running_service

pytestmark = pytest.mark.browser

TEXT = "word00 größe0 and WORD11; \U00010400Ⅳx\U000104003 <img src=x onerror=\"document.title='taken'\"> word92"


@pytest.fixture
def page(new_page, service):
    """A page that fails the test when it complains or asks anybody but the service."""
    page = new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: "status of 503" in message.text or complaints.append(message.text),
    )
    page.on(
        "request",
        lambda request: (
            request.url.startswith((service.url, "data:")) or complaints.append(request.url)
        ),
    )
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    yield page
    assert page.title() == "Labels for a text · ovaflow"
    assert not complaints


def predict(page, service, text) -> None:
    page.goto(service.url)
    page.get_by_role("textbox", name="Your text").fill(text)
    page.get_by_role("button", name="Find labels").click()
    page.wait_for_selector("#why:not([hidden])")


def names(page, where):
    return page.locator(f"{where} bdi").all_text_contents()


def felt(words, key, most):
    """Names of the words that the page shows: not those of less than a fiftieth of the strongest."""
    return [word["feature"] for word in words if abs(word[key]) > 0.02 * most][:12]


def test_a_pasted_text_gets_its_labels_and_each_its_reasons(page, service, predictor) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    predict(page, service, TEXT)
    theirs = service.answer("/predict", {"text": TEXT, "top_k": 10})
    labels = theirs["predictions"][0]["labels"]
    ours = names(page, "#labels")
    assert ours == [label["name"] for label in labels]
    assert sorted(ours) == sorted(predictor.label_names)
    figures = [
        re.fullmatch(r"[<>]? ?(\d+) %", shown)[1]
        for shown in page.locator("#labels data").all_text_contents()
    ]
    assert list(map(int, figures)) == pytest.approx(
        [100 * label["score"] for label in labels], abs=1
    )
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
    assert names(page, "#labels [aria-pressed=true]") == [label["name"]]
    theirs = service.answer("/explain", {"text": TEXT, "labels": [label["id"]], "words": 15})
    reasons = theirs["labels"][0]
    most = max(abs(word["contribution"]) for word in reasons["up"] + reasons["down"])
    for side, key in (("#for", "up"), ("#against", "down")):
        assert names(page, side) == felt(reasons[key], "contribution", most)
    described = service.answer(f"/labels/{label['id']}")
    strongest = felt(described["up"], "weight", described["up"][0]["weight"])
    assert names(page, "#strongest") == strongest
    assert names(page, "#nearest") == [other["name"] for other in described["nearest"]]


def ticked(page):
    """Names of the labels found that are ticked."""
    return names(page, "#labels li:has(input:checked)")


def predict_again(page, text, record=None) -> None:
    """Find the labels of another text, which is that of the same record or of another one where the
    page asks.
    """
    page.get_by_role("textbox", name="Your text").fill(text)
    with page.expect_response("**/explain"):
        page.get_by_role("button", name="Find labels").click()
        if record:
            page.get_by_role("button", name=record).click()


def names_that_fit(service, text):
    answer = service.answer("/predict", {"text": text, "fit": True})
    return [label["name"] for label in answer["predictions"][0]["labels"]]


def test_labels_that_fit_are_ticked_and_a_person_has_the_last_word(page, service) -> None:
    text = "word70 word71 größe7"
    other = "word90 word91 größe9"
    predict(page, service, text)
    fitting = names_that_fit(service, text)
    others = names_that_fit(service, other)
    ours = names(page, "#labels")
    assert ticked(page) == fitting
    assert names(page, "#chosen") == fitting
    status = page.locator("#status").text_content()
    some = len(fitting)
    right = f" and about \\d of these {some} (is|are) right| and probably all {some} are right"
    assert re.search(f" {some} of them fit(s|,({right}))\\.$", status)
    taken = fitting[0]
    added = next(name for name in ours if name not in {*fitting, *others})
    page.get_by_role("checkbox", name=f"Choose {taken}", exact=True).first.uncheck()
    page.get_by_role("checkbox", name=f"Choose {added}", exact=True).first.check()
    predict_again(page, text)
    assert set(ticked(page)) == {*fitting, added} - {taken}
    predict_again(page, other, "The same record")
    assert set(ticked(page)) == {*others, added} - {taken}
    predict_again(page, "unheard of", "The same record")
    assert names(page, "#chosen") == [added]
    predict_again(page, other, "Another record")
    assert ticked(page) == others


def save(page):
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("#saved").filter(has_text=re.compile(r"[^…]$")).wait_for()
    return page.locator("#saved").text_content()


def test_what_is_chosen_is_saved_and_the_next_text_begins_afresh(page, service) -> None:
    text = "word70 word71 größe7"
    other = "word90 word91 größe9"
    page.goto(f"{service.url}/#id=record+17&text={quote(text)}")
    page.wait_for_selector("#why:not([hidden])")
    shown = names(page, "#labels")
    fitting = names_that_fit(service, text)
    page.locator("#chosen").get_by_role("button").first.click()
    page.get_by_label(re.compile("Part of its name")).fill("GRÖSSE")
    page.locator("#found").get_by_role("checkbox").check()
    assert page.locator("#found-note").text_content() == "1 found."
    page.locator("#found button.label").click()
    page.locator("#why-title").filter(has_text="Größe").wait_for()
    added = page.locator("#found bdi").text_content()
    assert save(page) == f"Saved with {len(fitting)} label{'s' * (len(fitting) > 1)}."
    entry = json.loads(service.corrections.read_text().splitlines()[-1])
    assert (entry["id"], entry["text"]) == ("record 17", text)
    assert (entry["labels"], entry["suggested"]) == ([*fitting[1:], added], shown)
    predict_again(page, other)
    assert names(page, "#chosen") == names_that_fit(service, other)
    assert page.get_by_label("Record").input_value() == ""
    page.route(
        "**/corrections",
        lambda route: route.fulfill(status=503, body='{"detail": "no <b>room</b>"}'),
    )
    assert save(page) == "no <b>room</b>"


def test_everything_works_from_the_keyboard(page, service) -> None:
    page.goto(service.url)
    for _ in range(2):  # the language of the page, the text
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.type("word30 word31")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#why:not([hidden])")
    first = page.locator("#why-title").text_content()
    for _ in range(
        8
        # the button, the number of labels, a file, copy, the first tick, its label, the second
        # tick, its label
    ):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "name => document.getElementById('why-title').textContent !== name", arg=first
    )
    assert page.evaluate("document.activeElement.id") == "why"


@pytest.fixture
def subjects(library, tmp_path, new_page):
    """The page of a model whose labels are subjects, two of which are suggested and one is looked
    up.
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
    assert min(contrast_of(page, element) for element in ("body", "#status", "#go")) >= 4.5
    page.goto(f"{service.url}/docs")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def contrast_of(page, selector):
    """Contrast of an element's text and what is behind it."""
    colours = page.locator(selector).first.evaluate(
        """one => {
          const colour = getComputedStyle(one).color;
          while (getComputedStyle(one).backgroundColor === "rgba(0, 0, 0, 0)") one = one.parentElement;
          return [colour, getComputedStyle(one).backgroundColor];
        }"""
    )
    return compute_contrast(
        *([int(part) for part in re.findall(r"\d+", colour)[:3]] for colour in colours)
    )


def test_labels_are_named_in_the_language_of_the_reader(new_page, tmp_path) -> None:
    with running_service(tmp_path, train_animals(tmp_path)) as animals:
        page = new_page(locale="sv-FI", permissions=["clipboard-read", "clipboard-write"])
        predict(page, animals, "cats purr")
        assert page.locator("#labels bdi").first.text_content() == "katter"
        assert page.locator("#why-title").text_content() == "katter"
        page.locator("#labels [data-choose]").first.check()
        page.get_by_role("button", name="MARC 650").click()
        page.get_by_role("button", name="Copied").wait_for()
        # what a catalogue has is the name that the authority has
        assert "$a cats " in page.evaluate("navigator.clipboard.readText()")
        page.get_by_label("Language of the labels").select_option(label="suomi")
        page.locator("#labels bdi", has_text="kissat").wait_for()
        page.get_by_role("searchbox").fill("koir")
        page.locator("#found bdi", has_text="koirat").wait_for()
