"""The page saves exactly the state that it shows: random walks in a browser, compared with a model
of the page.
"""

import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from running_service import running_service
from synthetic import prepare_and_train

pytestmark = pytest.mark.browser

UNHEARD_OF = "unheard of"
TEXTS = ["word70 word71 größe7", "word90 word91 größe9", "word30 word31 word30", UNHEARD_OF]
IDS = ["b0901", "b0902"]


class Saved(NamedTuple):
    """A line of the file of corrections."""

    id: str
    text: str
    labels: frozenset[int]


UNASKED = Saved("", "", frozenset())


@dataclass
class Desk:
    """Model of the page: its record, text box and history of addresses, and the file of
    corrections, in which a second person saves, too.
    """

    # labels that the model suggests for each text
    suggested: dict
    # labels that are shown
    top_k: int = 10
    box: str = ""
    text: str = ""
    id: str = ""
    address: tuple = ()
    start: set = field(default_factory=set)
    by_hand: dict = field(default_factory=dict)
    basis: str | None = None
    is_edited: bool = False
    is_saved_here: bool = False
    # what the page knows to be saved of its record, and of the id that it was given
    known: Saved | None = UNASKED
    taken: Saved | None = None
    asks_basis: bool = False
    lines: list = field(default_factory=list)
    history: list = field(default_factory=lambda: [()])

    @property
    def chosen(self) -> set:
        ticked = {label for label, is_ticked in self.by_hand.items() if is_ticked}
        return (self.start - self.by_hand.keys()) | ticked

    @property
    def own(self) -> Saved | None:
        """The line that the page knows to be saved under the record's own id."""
        if self.known is None or self.known is UNASKED:
            return None
        if self.id:
            return self.known if self.known.id == self.id else None
        return self.known if (self.known.id, self.known.text) == ("", self.text) else None

    @property
    def is_saved(self) -> bool:
        return self.own is not None and self.own[1:] == (self.text, self.chosen)

    @property
    def unsaved(self) -> str:
        if self.is_saved:
            return ""
        if self.chosen != self.start or (self.own and self.is_edited):
            return "changed"
        return "suggested" if self.chosen or self.own else ""

    @property
    def figures(self) -> list[int]:
        """Numbers that the page gives: labels that are shown, known words, and labels that fit."""
        if not self.text or self.text == UNHEARD_OF:
            return []
        fitting = len(self.suggested[self.text])
        return [self.top_k, len(self.text.split()), fitting]

    @property
    def state(self) -> str:
        if not self.text:
            return ""
        if self.is_saved:
            return "Saved on"
        return "Not saved since" if self.own else "Not saved."

    def find_last(self, id_) -> Saved | None:
        """Find the last line of a record with an id."""
        return next((line for line in reversed(self.lines) if line.id == id_ != ""), None)

    def find_saved(self) -> Saved | None:
        """Find the last line of this id, or else of this text if its record still has it."""
        by_id = self.find_last(self.id)
        if by_id:
            return by_id
        by_text = next((line for line in reversed(self.lines) if line.text == self.text), None)
        if by_text and by_text.id and self.find_last(by_text.id).text != self.text:
            return None
        return by_text

    def open(self, text, id_="", address=()) -> None:
        self.text = text
        self.id = id_
        self.address = address
        self.start = set()
        self.by_hand = {}
        self.basis = None
        self.is_edited = False
        self.is_saved_here = False
        self.known = UNASKED
        self.taken = None
        if not text and self.find_last(id_):
            self.text = self.find_last(id_).text
        self.box = self.text
        self.history[-1] = address
        self.look()

    def look(self) -> None:
        """Find the labels of the text; perhaps a question is asked first."""
        if not self.text:
            return
        if self.known is UNASKED:
            self.known = self.find_saved()
            if self.known and self.id == self.known.id != "" and self.known.text != self.text:
                self.asks_basis = self.known.labels != self.suggested[self.text]
        if not self.asks_basis:
            self.begin(self.basis or ("saved" if self.known else "suggested"))

    def begin(self, basis) -> None:
        self.asks_basis = False
        self.basis = basis
        self.start = set()
        if basis in ("saved", "both"):
            self.start |= self.known.labels
        if basis in ("suggested", "both"):
            self.start |= self.suggested[self.text]
        if self.known and not self.id and self.known.text == self.text:
            self.id = self.known.id

    def name(self, id_) -> None:
        self.id = id_
        self.taken = None
        if not self.own:
            self.taken = self.find_last(id_)

    def asks_to_find(self) -> bool:
        if not self.text or self.box == self.text:
            return False
        if not self.box:
            return bool(self.unsaved)
        return bool(self.unsaved or (self.id and not self.is_saved_here))

    def correct(self) -> None:
        """Make the text in the box that of the same record."""
        self.text = self.box
        self.is_edited = True
        self.is_saved_here = False
        self.look()

    def open_address(self, address) -> None:
        id_, text = address or ("", "")
        self.open(text, id_, address)

    def find_stale(self) -> Saved | None:
        """Find what another person saved of the record since the page asked."""
        last = self.find_last(self.id)
        if not self.id:
            unnamed = (line for line in reversed(self.lines) if line[:2] == ("", self.text))
            last = next(unnamed, None)
        if last is None or last is self.own:
            return None
        return last

    def learn(self, theirs, chosen) -> None:
        """Learn what another person saved, and choose labels in view of that."""
        self.known = theirs
        self.taken = None
        self.basis = "saved"
        self.start = set(theirs.labels)
        self.by_hand = {label: label in chosen for label in theirs.labels ^ chosen}

    def write(self) -> None:
        line = Saved(self.id, self.text, frozenset(self.chosen))
        self.lines.append(line)
        self.known = line
        self.taken = None
        self.basis = "saved"
        self.start = self.chosen
        self.by_hand = {}
        self.is_edited = False
        self.is_saved_here = True


class Walk:
    """A page and its model, taken through the same steps."""

    def __init__(self, page, service, suggested) -> None:
        self.page = page
        self.service = service
        self.model = Desk(suggested)
        # which labels are taken when two sets of labels are shown
        self.takes = 0
        service.corrections.write_bytes(b"")
        page.goto("about:blank")
        page.goto(service.url)
        page.locator("#about").filter(has_text="labels fit").wait_for()

    def check(self) -> None:
        page = self.page
        model = self.model
        if model.asks_basis:
            page.wait_for_function("() => question.open")
            title = f"{model.id} was saved with another text"
            assert page.locator("#question-title").text_content() == title
            assert page.locator("#question-details blockquote").text_content() == model.known.text
            model.begin(self.take("saved", "suggested", "both"))
        page.wait_for_function("() => !looking && !question.open")
        shown = {
            "box": model.box,
            "id": model.id,
            "ticked": [label for label in self.list_shown_labels() if label in model.chosen],
            "chosen": len(model.chosen),
            "saves": bool(model.text) and model.box == model.text and not model.is_saved,
            "state": model.state,
            "taken": bool(model.taken),
            "new": len(model.chosen - (model.own.labels if model.own else set())),
            "removed": len(model.own.labels - model.chosen if model.own else ()),
            "title": bool(model.unsaved),
            "figures": model.figures,
        }
        # what is saved of an id is shown when the answer has come
        with contextlib.suppress(PlaywrightTimeout):
            page.wait_for_function(
                f"shown => JSON.stringify(({READ_PAGE})()) === JSON.stringify(shown)",
                arg=shown,
                timeout=3000,
            )
        assert page.evaluate(READ_PAGE) == shown

    def take(self, *answers) -> str:
        """Answer a question about two sets of labels."""
        answer = answers[self.takes % len(answers)]
        self.page.locator(f"#question [value={answer}]").click()
        return answer

    def list_shown_labels(self) -> list[int]:
        rows = self.page.locator("#labels [data-choose]")
        labels = rows.evaluate_all("all => all.map((each) => each.dataset.choose)")
        return [int(label) for label in labels]

    def answer(self, asked, value) -> None:
        """Answer the question that the page asks, if it should."""
        if asked:
            self.page.wait_for_function("() => question.open")
            self.page.locator(f"#question [value={value}]").click()
        else:
            assert not self.page.locator(f"#question [value={value}]").is_visible()

    def paste(self, text) -> None:
        self.page.locator("#text").fill(text)
        self.model.box = text

    def find(self, answer) -> None:
        model = self.model
        if model.box == model.text:
            self.page.locator("#go").click()
            return
        asks = model.asks_to_find()
        if not asks:
            answer = "another"
        elif not model.box:
            answer = {"another": "leave", "same": "save"}.get(answer, answer)
        elif answer == "save" and not model.unsaved:
            answer = "another"
        self.page.locator("#go").click()
        self.answer(asks, answer)
        if answer == "same":
            model.correct()
        elif answer != "stay" and (answer != "save" or self.save_desk()):
            box = model.box
            model.open(box, "" if model.text else model.id)
        self.page.wait_for_function("text => desk.text === text", arg=model.text)

    def find_text(self, text, answer) -> None:
        self.paste(text)
        self.find(answer)

    def link(self, address, answer) -> None:
        if address == self.model.history[-1]:
            return
        self.model.history.append(address)
        self.page.evaluate("hash => { location.hash = hash; }", _encode_address(address))
        self.check_move(address, answer)

    def back(self, answer) -> None:
        if len(self.model.history) == 1:
            return
        self.model.history.pop()
        self.page.evaluate("() => history.back()")
        address = self.model.history[-1]
        if address != self.model.address:
            self.check_move(address, answer)
        else:
            self.page.wait_for_timeout(50)

    def check_move(self, address, answer) -> None:
        model = self.model
        asks = bool(model.unsaved)
        if not asks:
            self.page.wait_for_function("address => desk.address === address", arg=_hash(address))
        self.answer(asks, answer)
        if not asks or answer == "leave" or (answer == "save" and self.save_desk()):
            model.open_address(address)
        else:
            model.history[-1] = model.address
        self.page.wait_for_function(
            "address => location.hash === address && desk.address === address",
            arg=_hash(model.address),
        )

    def tick(self, number) -> None:
        rows = self.page.locator("#labels [data-choose]")
        if number < rows.count():
            label = self.list_shown_labels()[number]
            self.model.by_hand[label] = label not in self.model.chosen
            rows.nth(number).click()

    def show(self, top_k) -> None:
        self.model.top_k = top_k
        self.page.locator("#top-k").select_option(str(top_k))
        shows = "n => !desk.answer || labelsOf(desk.answer).length === n"
        self.page.wait_for_function(shows, arg=top_k)

    def clear(self) -> None:
        if self.model.chosen:
            for label in self.model.chosen:
                self.model.by_hand[label] = False
            self.page.locator("#clear").click()

    def name(self, id_) -> None:
        if self.page.locator("#record").is_visible() and id_ != self.model.id:
            self.page.locator("#record").fill(id_)
            self.page.locator("#record").blur()
            self.model.name(id_)

    def save(self) -> None:
        button = self.page.locator("#save-button")
        if button.is_visible() and button.is_enabled():
            # a second click saves nothing more
            button.dblclick()
            self.save_desk()

    def save_desk(self) -> bool:
        """Follow the page while it saves, and decide where another person saved meanwhile."""
        model = self.model
        theirs = model.find_stale()
        taken = "saved"
        if theirs is None:
            model.write()
        else:
            yours = model.chosen
            if theirs[1:] != (model.text, yours):
                self.page.wait_for_function("() => question.open")
                self.check_comparison(theirs.labels, yours)
                taken = self.take("saved", "yours", "both", "stay")
            model.learn(
                theirs,
                {"saved": theirs.labels, "both": theirs.labels | yours}.get(taken, yours),
            )
            if taken != "stay" and not model.is_saved:
                model.write()
        self.page.wait_for_function("() => !saving")
        return taken != "stay"

    def check_comparison(self, theirs, yours) -> None:
        counts = {
            "Only saved": theirs - yours,
            "Only yours": yours - theirs,
            "In both": yours & theirs,
        }
        ours = self.page.locator("#question-details .columns > div").evaluate_all(
            "all => all.map((each) => [each.firstChild.textContent, each.querySelectorAll('li').length])"
        )
        assert dict(ours) == {name: len(labels) for name, labels in counts.items() if labels}

    def other_saves(self, id_, text, labels) -> None:
        """Save as a second person."""
        correction = {"text": text, "labels": sorted(labels)}
        self.service.answer("/corrections", correction | ({"id": id_} if id_ else {}))
        self.model.lines.append(Saved(id_, text, frozenset(labels)))

    def other_saves_this(self, labels) -> None:
        """Save the record on the desk as a second person."""
        if self.model.text:
            self.other_saves(self.model.id, self.model.text, labels)

    def reload(self) -> None:
        address = self.model.address
        self.page.reload()
        self.page.locator("#about").filter(has_text="labels fit").wait_for()
        self.model.top_k = int(self.page.locator("#top-k").input_value())
        self.model.history = [address]
        self.model.open_address(address)
        self.page.wait_for_function("address => desk.address === address", arg=_hash(address))


READ_PAGE = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const state = by("state").textContent;
  return {
    box: by("text").value,
    id: by("record").value,
    ticked: all("#labels :checked").map((each) => Number(each.dataset.choose)),
    chosen: all("#chosen li:not(.removed)").length,
    saves: !by("save-button").disabled,
    state: state.match(/^(Saved on|Not saved since|Not saved[.]|)/)[0],
    taken: / is saved since /.test(state),
    new: all("#chosen .unsaved:not(.removed)").length,
    removed: all("#chosen .removed").length,
    title: document.title.startsWith("• "),
    figures: (by("status").textContent.match(/\\d+ (label|known|of them|fit)/g) ?? []).map(parseFloat),
  };
}"""


def _encode_address(address) -> str:
    id_, text = address
    return urlencode({"id": id_, "text": text})


def _hash(address) -> str:
    if not address:
        return ""
    return f"#{_encode_address(address)}"


ADDRESSES = st.tuples(st.sampled_from(IDS), st.sampled_from([*TEXTS, ""]))
FIND_ANSWERS = st.sampled_from(["same", "another", "save", "stay"])
LEAVE_ANSWERS = st.sampled_from(["save", "leave", "stay"])
LABELS = st.sets(st.integers(0, 9), max_size=3)
STEPS = st.one_of(
    st.tuples(st.just("paste"), st.sampled_from([*TEXTS, ""])),
    st.tuples(st.just("find"), FIND_ANSWERS),
    st.tuples(st.just("find_text"), st.sampled_from(TEXTS), FIND_ANSWERS),
    st.tuples(st.just("find_text"), st.sampled_from(TEXTS), FIND_ANSWERS),
    st.tuples(st.just("link"), ADDRESSES, LEAVE_ANSWERS),
    st.tuples(st.just("link"), ADDRESSES, LEAVE_ANSWERS),
    st.tuples(st.just("tick"), st.integers(0, 9)),
    st.tuples(st.just("tick"), st.integers(0, 9)),
    st.tuples(st.just("show"), st.sampled_from([5, 10])),
    st.tuples(st.just("clear")),
    st.tuples(st.just("name"), st.sampled_from([*IDS, ""])),
    st.tuples(st.just("save")),
    st.tuples(st.just("save")),
    st.tuples(st.just("other_saves"), st.sampled_from([*IDS, ""]), st.sampled_from(TEXTS), LABELS),
    st.tuples(st.just("other_saves_this"), LABELS),
    st.tuples(st.just("other_saves_this"), LABELS),
    st.tuples(st.just("back"), LEAVE_ANSWERS),
    st.tuples(st.just("reload")),
)


@pytest.fixture(scope="module")
def suggested(service) -> dict[str, set[int]]:
    """Labels that are suggested for each text: those that fit, without a known word none."""
    suggested = {"": set()}
    for text in TEXTS:
        answer = service.answer("/predict", {"text": text, "fit": True})["predictions"][0]
        labels = [] if answer["doubts"] else answer["labels"]
        suggested[text] = {label["id"] for label in labels}
    return suggested


@pytest.fixture
def page(new_page):
    page = new_page()
    page.set_default_timeout(10_000)
    # what the browser asks before a page is left
    page.on("dialog", lambda dialog: dialog.accept())
    return page


@given(steps=st.lists(st.tuples(STEPS, st.integers(0, 3)), min_size=25, max_size=40))
@settings(
    max_examples=10,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_is_saved_is_what_is_seen(page, service, predictor, suggested, steps) -> None:
    walk = Walk(page, service, suggested)
    for (name, *values), takes in steps:
        note(f"{name} {values} {takes}")
        walk.takes = takes
        getattr(walk, name)(*values)
        walk.check()
    ids = {name: label for label, name in enumerate(predictor.label_names)}
    ours = []
    for entry in read_entries(service.corrections):
        id_ = "" if entry["id"].startswith("text:") else entry["id"]
        labels = frozenset(ids[name] for name in entry["labels"])
        ours.append((id_, entry["text"], labels))
    assert ours == walk.model.lines


def read_entries(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def open_page(page, service, record, text) -> None:
    page.goto("about:blank")
    page.goto(f"{service.url}/#{urlencode({'id': record, 'text': text})}")
    page.wait_for_function("() => !looking && desk.answer")


def test_what_was_corrected_comes_back_and_can_be_corrected_again(
    page, service, saved, predictor
) -> None:
    open_page(page, service, "b0901", TEXTS[0])
    page.locator("#labels [data-choose]").nth(3).check()
    names = page.locator("#chosen bdi").all_text_contents()
    save(page)
    # a reader finds it again by its id, and by its text
    for record in ("b0901", ""):
        open_page(page, service, record, TEXTS[0])
        assert page.locator("#chosen li:not(.unsaved) bdi").all_text_contents() == names
        assert page.locator("#state").text_content().startswith("Saved on ")
        assert page.locator("#record").input_value() == "b0901"
    page.locator("#chosen").get_by_role("button").first.click()
    save(page)
    # through the list of today
    open_page(page, service, "b0902", TEXTS[1])
    page.get_by_text("Saved records", exact=True).click()
    page.get_by_text("1 record, to be looked at and changed.").wait_for()
    page.locator("#corrections button", has_text="saved 2 times").click()
    page.get_by_role("button", name="Go on without saving").click()
    page.locator("#state").filter(has_text="Saved on").wait_for()
    assert page.locator("#text").input_value() == TEXTS[0]
    assert page.locator("#chosen bdi").all_text_contents() == names[1:]
    assert page.evaluate("() => location.hash") == "#id=b0901"
    page.reload()
    page.locator("#state").filter(has_text="Saved on").wait_for()
    assert len(saved.read_text("utf-8").splitlines()) == 2


def save(page) -> None:
    page.locator("#save-button").click()
    page.locator("#state").filter(has_text=re.compile("^Saved on ")).wait_for()


def test_an_id_that_is_saved_says_so(page, service, saved, predictor) -> None:
    service.answer("/corrections", {"id": "b0901", "text": "old", "labels": [1]})
    open_page(page, service, "", TEXTS[0])
    page.locator("#record").fill("b0901")
    page.locator("#record").blur()
    page.locator("#state").filter(has_text="b0901 is saved since").wait_for()
    said = f"with: {predictor.label_names[1]}. Save shows both."
    assert said in page.locator("#state").text_content()
    page.locator("#save-button").click()
    page.get_by_role("heading", name="Someone else saved b0901").wait_for()
    assert page.locator("#question-details blockquote").text_content() == "old"


def test_two_people_save_one_record(page, new_page, service, saved) -> None:
    other = new_page()
    for each in (page, other):
        open_page(each, service, "b0901", TEXTS[0])
    fitting = page.locator("#chosen li").count()
    other.locator("#labels [data-choose]").nth(fitting).check()
    save(other)
    page.locator("#labels [data-choose]").nth(fitting + 1).check()
    page.locator("#save-button").click()
    page.get_by_role("heading", name="Someone else saved b0901").wait_for()
    page.get_by_role("button", name="Both together").click()
    page.locator("#state").filter(has_text=re.compile("^Saved on ")).wait_for()
    first, last = read_entries(saved)
    assert {*first["labels"]} < {*last["labels"]}
    assert len(last["labels"]) == fitting + 2


@pytest.mark.parametrize(
    ("setting", "asks"),
    [("suggested", [True, True]), ("changed", [False, True]), ("never", [False, False])],
)
def test_the_service_says_what_is_asked_about(page, models, tmp_path, setting, asks) -> None:
    options = [
        f"--reranker={models}/a.reranker.h5",
        f"--corrections={tmp_path}/corrections.jsonl",
        f"--ask-to-save={setting}",
    ]
    with running_service(tmp_path, models / "a.h5", *options) as service:
        for ticks, asked in zip((False, True), asks, strict=True):
            open_page(page, service, "b0901", TEXTS[0])
            if ticks:
                page.locator("#labels [data-choose]").nth(4).click()
            page.evaluate("hash => { location.hash = hash; }", urlencode({"text": TEXTS[1]}))
            page.wait_for_function(
                "text => question.open || (desk.text === text && !looking)", arg=TEXTS[1]
            )
            assert page.locator("#question").is_visible() == asked


def test_an_address_is_named_as_one(page, service) -> None:
    page.goto(service.url)
    page.locator("#text").fill(" https://example.org/record?id=17\n")
    page.locator("#go").click()
    page.get_by_text("This is an address, not a text").wait_for()
    assert page.locator("#labels li").count() == 0
    assert page.locator("#save-button").is_disabled()


def test_a_text_that_the_model_does_not_understand_has_no_ticks(page, service, saved) -> None:
    def in_german(route) -> None:
        answer = route.fetch()
        content = answer.json()
        content["predictions"][0] |= {"doubts": ["language"], "language": "de"}
        route.fulfill(response=answer, json=content)

    open_page(page, service, "", UNHEARD_OF)
    page.get_by_text("The model knows none of these words").wait_for()
    assert page.locator("#chosen li").count() == 0
    page.route("**/predict", in_german)
    open_page(page, service, "", TEXTS[1])
    page.get_by_text("This text seems to be in German").wait_for()
    assert page.locator("#labels li").count() > 0
    assert page.locator("#chosen li").count() == 0


def test_html_is_shown_as_its_text(page, service) -> None:
    page.goto(service.url)
    page.locator("#text").fill(f"<p>{TEXTS[1]} &amp; <b>word92</b></p><script>word30</script>")
    page.locator("#go").click()
    page.get_by_text("HTML is shown as its text.").wait_for()
    page.locator("#save-button:enabled").wait_for()
    assert page.locator("#text").input_value() == f"{TEXTS[1]} & word92"


@pytest.mark.parametrize("drops", [True, False])
def test_a_file_becomes_the_text(page, service, drops) -> None:
    def give(name, content) -> None:
        if not drops:
            page.locator("#file").set_input_files(
                {"name": name, "mimeType": "text/plain", "buffer": content}
            )
            return
        carried = page.evaluate_handle("() => new DataTransfer()")
        carried.evaluate(
            "(all, [name, content]) => all.items.add(new File([content], name))",
            [name, content.decode("cp1252")],
        )
        for event in ("dragover", "drop"):
            page.dispatch_event("body", event, {"dataTransfer": carried})

    page.goto(service.url)
    page.locator("#about").filter(has_text="labels fit").wait_for()
    give("größe.txt", "für word90 word91".encode("cp1252"))
    page.locator("#save-button:enabled").wait_for()
    assert page.locator("#text").input_value() == "für word90 word91"
    page.locator("#labels [data-choose]").nth(4).click()
    give("more.md", TEXTS[2].encode())
    page.get_by_role("button", name="Another record").click()
    page.locator("#save-button:enabled").wait_for()
    assert page.locator("#text").input_value() == TEXTS[2]
    give("image.png", b"PNG")
    page.get_by_text(
        "image.png cannot be read: only texts, Markdown, HTML and PDF are read"
    ).wait_for()
    assert page.locator("#text").input_value() == TEXTS[2]


def test_the_language_can_be_chosen_and_the_record_stays(page, service, saved) -> None:
    open_page(page, service, "b0901", TEXTS[0])
    page.get_by_label("Language of this page").select_option("fr")
    page.get_by_role("heading", name="Sujets d’un texte").wait_for()
    page.locator("#save-button:enabled", has_text="Enregistrer").wait_for()
    assert page.locator("#text").input_value() == TEXTS[0]
    assert page.locator("#record").input_value() == "b0901"
    assert re.match(
        r"\d+ sujets d’après \d+ mots? connus?\.", page.locator("#status").text_content()
    )
    sums = page.locator("#sums")
    assert not sums.is_visible()
    page.get_by_text("En chiffres").click()
    assert sums.is_visible()
    assert re.fullmatch(
        r"Les mots donnent [+−]\d+,\d+, dont [+−]\d+,\d+ sans aucun mot\.", sums.text_content()
    )
    assert page.locator("#for data").first.is_visible()
    assert page.locator("#evidence li").first.text_content()


def test_a_question_that_stands_is_answered_first(page, service, saved) -> None:
    open_page(page, service, "b0901", TEXTS[0])
    page.locator("#labels [data-choose]").nth(3).check()
    for record in IDS:
        page.evaluate(
            "hash => { location.hash = hash; }", urlencode({"id": record, "text": TEXTS[1]})
        )
        page.locator("#question[open]").wait_for()
    page.wait_for_function("() => location.hash === desk.address")
    page.get_by_role("button", name="Stay").click()
    page.locator("#question:not([open])").wait_for(state="attached")
    assert page.locator("#text").input_value() == TEXTS[0]


def test_a_record_of_several_columns_keeps_them(page, tmp_path) -> None:
    rows = [f"a{i % 3} b,c{i % 3} d{i % 2},l{i % 3}\n" for i in range(30)]
    (tmp_path / "train.csv").write_text("title,body,labels\n" + "".join(rows))
    model = prepare_and_train(
        tmp_path,
        "--format=csv",
        f"--train={tmp_path}/train.csv",
        "--text-column=title,body",
        "--min-df=1",
    )
    corrections = tmp_path / "corrections.jsonl"
    columns = {"title": "a1 b", "body": "c1 d0"}
    with running_service(tmp_path, model, f"--corrections={corrections}") as service:
        service.answer("/corrections", {"id": "b0901", "text": columns, "labels": ["l2"]})
        page.goto(service.url)
        page.get_by_text("Saved records", exact=True).click()
        page.locator("#corrections button").click()
        page.locator("#labels [data-choose]").first.check()
        save(page)
        # a link brings the same text in one piece
        open_page(page, service, "b0901", "a1 b c1 d0")
        page.locator("#labels [data-choose]").nth(2).check()
        save(page)
    entries = read_entries(corrections)
    for entry in entries:
        assert {name: entry[name] for name in columns} == columns
    assert len(entries) == 3
    assert sorted(entries[1]["labels"]) == ["l1", "l2"]
