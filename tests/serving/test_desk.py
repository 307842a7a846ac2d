"""The page saves exactly the state that it shows: random walks in a browser, compared with a model
of the page.
"""

import json
import re
from dataclasses import dataclass, field
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from running_service import running_service
from synthetic import prepare_and_train

pytestmark = pytest.mark.browser

TEXTS = ["word70 word71 größe7", "word90 word91 größe9", "word30 word31", "unheard of"]
IDS = ["b0901", "b0902"]


@dataclass
class Desk:
    """Model of the page: its record, text box, saved corrections and history of addresses."""

    # labels that fit each text
    fits: dict
    box: str = ""
    text: str = ""
    id: str = ""
    address: tuple = ()
    before: set = field(default_factory=set)
    by_hand: dict = field(default_factory=dict)
    here: bool = False
    # last correction of the open record
    mine: tuple | None = None
    # id, text and labels of each correction
    saved: list = field(default_factory=list)
    history: list = field(default_factory=lambda: [()])

    @property
    def chosen(self) -> set:
        taken = {label for label, is_chosen in self.by_hand.items() if is_chosen}
        return (self.before - self.by_hand.keys()) | taken

    @property
    def is_unsaved(self) -> bool:
        return self.chosen != self.before

    def find_correction(self) -> tuple | None:
        """Find the last correction of this id, or else of this text if its record still has it."""
        by_id = [line for line in self.saved if line[0] and line[0] == self.id]
        if by_id:
            return by_id[-1]
        by_text = [line for line in self.saved if line[1] == self.text]
        if not by_text:
            return None
        last = by_text[-1]
        same_record = [line for line in self.saved if line[0] and line[0] == last[0]]
        if same_record and same_record[-1][1] != self.text:
            return None
        return last

    def open(self, text, id_="", address=()) -> None:
        self.text = text
        self.id = id_
        self.address = address
        self.by_hand = {}
        self.here = False
        self.mine = None
        if not text and id_:
            known = self.find_correction()
            if known:
                self.text = known[1]
        self.box = self.text
        self.history[-1] = address
        self.look()

    def look(self) -> None:
        known = self.find_correction() if self.text else None
        self.mine = known or self.mine
        self.before = set(self.mine[2] if self.mine else self.fits[self.text])
        if known and not self.id and known[1] == self.text:
            self.id = known[0]

    def asks_to_find(self) -> bool:
        if not self.text or self.box == self.text:
            return False
        return self.is_unsaved or bool(self.id and not self.here)

    def find(self, answer) -> None:
        if self.box == self.text:
            return
        if not self.asks_to_find():
            self.open(self.box, "" if self.text else self.id)
        elif answer == "another":
            self.open(self.box)
        elif answer == "same":
            self.text = self.box
            self.here = False
            self.look()

    def go(self, address, leaves) -> None:
        if self.is_unsaved and not leaves:
            self.history[-1] = self.address
        else:
            self.open_address(address)

    def open_address(self, address) -> None:
        id_, text = address or ("", "")
        self.open(text, id_, address)

    def save(self) -> None:
        own = (self.id, self.text, frozenset(self.chosen))
        self.before = self.chosen
        self.by_hand = {}
        self.here = True
        self.mine = own
        self.saved.append(own)


class Walk:
    """A page and its model, taken through the same steps."""

    def __init__(self, page, service, fits) -> None:
        self.page = page
        self.service = service
        self.model = Desk(fits)
        service.corrections.write_bytes(b"")
        page.goto("about:blank")
        page.goto(service.url)
        page.locator("#about").filter(has_text="labels fit").wait_for()

    def check(self) -> None:
        page = self.page
        model = self.model
        page.wait_for_function("() => !looking")
        ours = page.evaluate(
            """() => ({
              box: document.getElementById("text").value,
              id: document.getElementById("record").value,
              ticked: [...document.querySelectorAll("#labels :checked")]
                .map((each) => Number(each.dataset.choose)),
              chosen: document.querySelectorAll("#chosen li").length,
              saves: !document.getElementById("save-button").disabled,
            })"""
        )
        assert ours == {
            "box": model.box,
            "id": model.id,
            "ticked": [label for label in self.list_shown_labels() if label in model.chosen],
            "chosen": len(model.chosen),
            "saves": bool(model.text) and model.box == model.text,
        }

    def list_shown_labels(self) -> list[int]:
        rows = self.page.locator("#labels [data-choose]")
        labels = rows.evaluate_all("all => all.map((each) => each.dataset.choose)")
        return [int(label) for label in labels]

    def answer(self, asked, value) -> None:
        """Answer the question that the page asks, if it should."""
        dialog = self.page.locator("#question")
        assert dialog.is_visible() == asked
        if asked:
            dialog.locator(f"[value={value}]").click()

    def paste(self, text) -> None:
        self.page.locator("#text").fill(text)
        self.model.box = text

    def find(self, answer) -> None:
        asks = self.model.asks_to_find()
        empty = not self.model.box
        self.page.locator("#go").click()
        if empty:
            # nothing is pasted: the record is left
            self.answer(asks and self.model.is_unsaved, "leave" if answer == "another" else "stay")
            if not (asks and self.model.is_unsaved) or answer == "another":
                self.model.find("another")
        else:
            self.answer(asks, answer)
            self.model.find(answer)
        self.page.wait_for_function("text => desk.text === text", arg=self.model.text)

    def find_text(self, text, answer) -> None:
        self.paste(text)
        self.find(answer)

    def link(self, address, leaves) -> None:
        if address == self.model.history[-1]:
            return
        self.model.history.append(address)
        self.page.evaluate("hash => { location.hash = hash; }", _encode_address(address))
        self.check_move(address, leaves)

    def back(self, leaves) -> None:
        if len(self.model.history) == 1:
            return
        self.model.history.pop()
        self.page.evaluate("() => history.back()")
        address = self.model.history[-1]
        if address != self.model.address:
            self.check_move(address, leaves)
        else:
            self.page.wait_for_timeout(50)

    def check_move(self, address, leaves) -> None:
        asks = self.model.is_unsaved
        self.page.wait_for_function(
            "address => desk.address === address || question.open", arg=_hash(address)
        )
        self.answer(asks, "leave" if leaves else "stay")
        self.model.go(address, leaves)
        self.page.wait_for_function(
            "address => location.hash === address && desk.address === address",
            arg=_hash(self.model.address),
        )

    def tick(self, number) -> None:
        rows = self.page.locator("#labels [data-choose]")
        if number < rows.count():
            label = self.list_shown_labels()[number]
            self.model.by_hand[label] = label not in self.model.chosen
            rows.nth(number).click()

    def name(self, id_) -> None:
        if self.page.locator("#record").is_visible():
            self.page.locator("#record").fill(id_)
            self.page.locator("#record").blur()
            self.model.id = id_

    def save(self) -> None:
        button = self.page.locator("#save-button")
        if button.is_visible() and button.is_enabled():
            button.click()
            self.page.locator("#saved").filter(has_text=re.compile("^Saved with")).wait_for()
            self.model.save()
            self.page.wait_for_function("() => desk.savedHere")

    def reload(self) -> None:
        address = self.model.address
        self.page.reload()
        self.page.locator("#about").filter(has_text="labels fit").wait_for()
        self.model.history = [address]
        self.model.open_address(address)
        self.page.wait_for_function("address => desk.address === address", arg=_hash(address))


def _encode_address(address) -> str:
    id_, text = address
    return urlencode({"id": id_, "text": text})


def _hash(address) -> str:
    if not address:
        return ""
    return f"#{_encode_address(address)}"


ADDRESSES = st.tuples(st.sampled_from(IDS), st.sampled_from(TEXTS))
ANSWERS = st.sampled_from(["same", "another", "stay"])
STEPS = st.one_of(
    st.tuples(st.just("paste"), st.sampled_from([*TEXTS, ""])),
    st.tuples(st.just("find"), ANSWERS),
    st.tuples(st.just("find_text"), st.sampled_from(TEXTS), ANSWERS),
    st.tuples(st.just("find_text"), st.sampled_from(TEXTS), ANSWERS),
    st.tuples(st.just("link"), ADDRESSES, st.booleans()),
    st.tuples(st.just("link"), ADDRESSES, st.booleans()),
    st.tuples(st.just("tick"), st.integers(0, 9)),
    st.tuples(st.just("tick"), st.integers(0, 9)),
    st.tuples(st.just("name"), st.sampled_from([*IDS, ""])),
    st.tuples(st.just("save")),
    st.tuples(st.just("save")),
    st.tuples(st.just("back"), st.booleans()),
    st.tuples(st.just("reload")),
)


@pytest.fixture(scope="module")
def fits(service) -> dict[str, set[int]]:
    """Labels that fit each text; of a text without a known word none."""
    fits = {"": set()}
    for text in TEXTS:
        answer = service.answer("/predict", {"text": text, "fit": True})["predictions"][0]
        labels = answer["labels"] if answer["features"] else []
        fits[text] = {label["id"] for label in labels}
    return fits


@pytest.fixture
def page(new_page):
    page = new_page()
    page.set_default_timeout(10_000)
    # what the browser asks before a page is left
    page.on("dialog", lambda dialog: dialog.accept())
    return page


@given(steps=st.lists(STEPS, min_size=25, max_size=40))
@settings(
    max_examples=10,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_is_saved_is_what_is_seen(page, service, predictor, fits, steps) -> None:
    walk = Walk(page, service, fits)
    for name, *values in steps:
        note(f"{name} {values}")
        getattr(walk, name)(*values)
        walk.check()
    ids = {name: label for label, name in enumerate(predictor.label_names)}
    ours = []
    for entry in read_entries(service.corrections):
        id_ = "" if entry["id"].startswith("text:") else entry["id"]
        labels = frozenset(ids[name] for name in entry["labels"])
        ours.append((id_, entry["text"], labels))
    assert ours == walk.model.saved


def read_entries(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def open_page(page, service, record, text) -> None:
    page.goto("about:blank")
    page.goto(f"{service.url}/#{urlencode({'id': record, 'text': text})}")
    page.locator("#save-button:enabled").wait_for()


def test_what_was_corrected_comes_back_and_can_be_corrected_again(
    page, service, saved, predictor
) -> None:
    open_page(page, service, "b0901", TEXTS[0])
    page.locator("#labels [data-choose]").nth(3).check()
    names = page.locator("#chosen bdi").all_text_contents()
    page.locator("#save-button").click()
    page.get_by_text(re.compile(f"^Saved with {len(names)} label")).wait_for()
    # a reader finds it again by its id, and by its text
    for record in ("b0901", ""):
        open_page(page, service, record, TEXTS[0])
        assert page.locator("#chosen .mine bdi").all_text_contents() == names
        assert page.locator("#yours").text_content().startswith("These are your labels, saved on ")
        assert page.locator("#record").input_value() == "b0901"
    page.locator("#chosen").get_by_role("button").first.click()
    page.locator("#save-button").click()
    page.locator("#saved").filter(has_text="They take the place of what was saved on").wait_for()
    assert "(saved 2 times)" in page.locator("#yours").text_content()
    # through the list of today
    open_page(page, service, "b0902", TEXTS[1])
    page.get_by_text("Saved records", exact=True).click()
    page.get_by_text("1 record, to be looked at and changed.").wait_for()
    page.locator("#corrections button").click()
    page.locator("#yours").filter(has_text="saved 2 times").wait_for()
    assert page.locator("#text").input_value() == TEXTS[0]
    assert page.locator("#chosen bdi").all_text_contents() == names[1:]
    assert page.evaluate("() => location.hash") == "#id=b0901"
    page.reload()
    page.locator("#yours").filter(has_text="saved 2 times").wait_for()
    assert len(saved.read_text("utf-8").splitlines()) == 2


def test_an_id_that_was_saved_says_what_it_replaces(page, service, saved, predictor) -> None:
    service.answer("/corrections", {"id": "b0901", "text": "old", "labels": [1]})
    open_page(page, service, "", TEXTS[0])
    page.locator("#record").fill("b0901")
    page.locator("#record").blur()
    page.locator("#saved").filter(has_text="b0901 was saved on").wait_for()
    assert (
        page.locator("#saved")
        .text_content()
        .endswith(f"Save replaces its labels: {predictor.label_names[1]}.")
    )


def test_an_address_is_named_as_one(page, service) -> None:
    page.goto(service.url)
    page.locator("#text").fill(" https://example.org/record?id=17\n")
    page.locator("#go").click()
    page.get_by_text("This is an address, not a text").wait_for()
    assert page.locator("#labels li").count() == 0
    assert page.locator("#save-button").is_disabled()


def test_a_text_that_the_model_does_not_understand_has_no_ticks(page, service) -> None:
    def in_german(route) -> None:
        answer = route.fetch()
        content = answer.json()
        content["predictions"][0] |= {"doubts": ["language"], "language": "de"}
        route.fulfill(response=answer, json=content)

    open_page(page, service, "", "unheard of")
    page.get_by_text("The model knows only 0 % of the words of this text").wait_for()
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


def test_the_language_can_be_chosen_and_the_record_stays(page, service) -> None:
    open_page(page, service, "b0901", TEXTS[0])
    page.get_by_label("Language of this page").select_option("fr")
    page.get_by_role("heading", name="Sujets d’un texte").wait_for()
    page.locator("#save-button:enabled", has_text="Enregistrer").wait_for()
    assert page.locator("#text").input_value() == TEXTS[0]
    assert page.locator("#record").input_value() == "b0901"
    assert re.match(
        r"\d+ sujets d’après \d+ mots? connus? en ", page.locator("#status").text_content()
    )
    assert "score des mots " in page.locator("#why-note").text_content()
    assert re.search(r"\d,\d", page.locator("#why-note").text_content()), (
        "figures are written as in French"
    )
    assert page.locator("#evidence li").first.text_content()


def test_a_question_that_stands_is_answered_first(page, service) -> None:
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
        page.locator("#save-button").click()
        page.locator("#saved").filter(
            has_text="They take the place of what was saved on"
        ).wait_for()
        # a link brings the same text in one piece
        open_page(page, service, "b0901", "a1 b c1 d0")
        page.locator("#save-button").click()
        page.locator("#saved").filter(
            has_text="They take the place of what was saved on"
        ).wait_for()
    entries = read_entries(corrections)
    for entry in entries:
        assert {name: entry[name] for name in columns} == columns
    assert len(entries) == 3
    assert sorted(entries[1]["labels"]) == ["l1", "l2"]
