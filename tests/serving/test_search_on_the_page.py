"""The search for labels on the page, in a real browser."""

import pytest
from animals import HERE, VOCABULARY, write_animals
from commands import ovaflow
from running_service import running_service
from synthetic import train_model_file

from ovaflow.dataset.dataset import open_dataset

pytestmark = pytest.mark.browser

N_FINCHES = 30


@pytest.fixture(scope="module")
def finches(tmp_path_factory):
    """A service of a model with 30 finches, each with an alternative name."""
    folder = tmp_path_factory.mktemp("finches")
    subjects = [VOCABULARY]
    for number in range(N_FINCHES):
        name = f'skos:prefLabel "finch number {number}"@en ; skos:altLabel "fringillid {number}"@en'
        subjects.append(f":finch{number} a skos:Concept ; {name} .\n")
    command = write_animals(folder)
    (folder / "animals.ttl").write_text("".join(subjects), encoding="utf-8")
    ovaflow(command, f"--output={folder}/animals.h5")
    model = train_model_file(folder / "model.h5", open_dataset(folder / "animals.h5"))
    with running_service(folder, model) as service:
        yield service


def open_page(new_page, service, language="en"):
    page = new_page(locale="en")
    page.goto(f"{service.url}/?lang={language}")
    page.locator("#about:not(:empty)").wait_for()
    return page


def test_further_labels_are_shown_when_asked_for(new_page, finches) -> None:
    page = open_page(new_page, finches)
    page.get_by_role("searchbox").fill("number finch")
    names = page.locator("#found bdi")
    note = page.locator("#found-note")
    for n_shown in (12, 24):
        page.get_by_text(f"{n_shown} of {N_FINCHES} shown.").wait_for()
        assert names.count() == n_shown
        page.get_by_role("button", name="Show more").click()
    page.get_by_text(f"{N_FINCHES} found.").wait_for()
    theirs = finches.answer(f"/labels?search=number+finch&limit={N_FINCHES}")["labels"]
    assert names.all_text_contents() == [label["name"] for label in theirs]
    # the keyboard goes on at the first of the labels that were added
    assert (
        page.evaluate("document.activeElement.querySelector('bdi').textContent")
        == (theirs[24]["name"])
    )
    assert page.get_by_role("button", name="Show more").count() == 0
    page.get_by_role("searchbox").fill("")
    page.wait_for_function("() => !document.getElementById('found').children.length")
    assert note.text_content() == ""


@pytest.mark.parametrize(
    ("language", "said"), [("en", "also: "), ("de", "auch: "), ("fr", "aussi : ")]
)
def test_a_label_says_by_which_alternative_name_it_is_found(
    new_page, finches, language, said
) -> None:
    page = open_page(new_page, finches, language)
    page.get_by_role("searchbox").fill("17 fring")
    found = page.locator("#found button.label > span:first-child")
    found.wait_for()
    assert found.text_content() == f"finch number 17{said}fringillid 17"
    page.get_by_role("searchbox").fill(f"https{HERE[4:]}finch17/")
    page.wait_for_function("() => !document.querySelector('#found .notation')")
    assert found.text_content() == "finch number 17"
