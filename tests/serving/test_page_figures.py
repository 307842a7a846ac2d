"""Figures and sentences of the page, in a real browser: what they count, and in which language."""

import json

import pytest

pytestmark = pytest.mark.browser

FAMILIAR = {"features": 9, "words": 4, "known_words": 3, "language": None, "doubts": []}
GUESSES = "So its labels are guesses, and none is ticked for you."


def make_prediction(probabilities, fit, **familiarity) -> dict:
    """Make the prediction for a text, with labels of these probabilities."""
    labels = []
    for number, probability in enumerate(probabilities):
        name = f"label {number}"
        labels.append(
            {"id": number, "name": name, "score": probability, "probability": probability}
        )
    return {"labels": labels, "fit": fit} | FAMILIAR | familiarity


def ask(page, service, prediction, text="a text", language="en") -> tuple[str, str]:
    """Ask a service that answers so; return the page's status and remark."""
    answer = {"model": "", "probabilities": True, "predictions": [prediction]}
    page.route("**/predict", lambda route: route.fulfill(body=json.dumps(answer)))
    page.goto(f"{service.url}/?lang={language}")
    page.locator("#text").fill(text)
    page.locator("#go").click()
    page.wait_for_selector("#labels li")
    return page.locator("#status").text_content(), page.locator("#remark").text_content()


@pytest.mark.parametrize(
    ("probabilities", "fit", "familiarity", "said"),
    [
        ([0.9, 0.1], 1, {}, "2 labels from 3 known words of 4. 1 of them fits, 90 % sure."),
        ([0.25], 1, {"known_words": 4}, "1 label from 4 known words. 1 of them fits, 25 % sure."),
        (
            [0.9, 0.8, 0.4],
            3,
            {"words": 1, "known_words": 1},
            "3 labels from 1 known word. 3 of them fit, and about 2 of these 3 are right.",
        ),
        (
            [0.2, 0.2],
            2,
            {"known_words": 1},
            "2 labels from 1 known word of 4. "
            "2 of them fit best, but probably none of these 2 is right.",
        ),
        ([0.1], 0, {}, "1 label from 3 known words of 4. None of them fits."),
    ],
)
def test_the_status_counts_words_and_says_how_sure_labels_are(
    new_page, service, probabilities, fit, familiarity, said
) -> None:
    prediction = make_prediction(probabilities, fit, **familiarity)
    status, remark = ask(new_page(), service, prediction)
    assert (status, remark) == (said, "")


@pytest.mark.parametrize(
    ("doubts", "remark"),
    [
        (["unknown_words"], f"The model knows 0 of the 4 words of this text. {GUESSES}"),
        (
            ["unknown_words", "language"],
            "The model knows 0 of the 4 words of this text. "
            f"This text seems to be in French, and the model has learnt from English alone. {GUESSES}",
        ),
    ],
)
def test_doubtful_labels_do_not_fit_and_the_reasons_have_one_consequence(
    new_page, service, doubts, remark
) -> None:
    page = new_page()
    health = service.answer("/health") | {"trained_languages": ["en"]}
    page.route("**/health", lambda route: route.fulfill(body=json.dumps(health)))
    prediction = make_prediction([0.9], 1, known_words=0, language="fr", doubts=doubts)
    status = "1 label from 0 known words of 4."
    assert ask(page, service, prediction) == (status, remark)
    assert page.locator("#labels :checked").count() == 0


@pytest.mark.parametrize(
    ("language", "status"),
    [
        ("de", "2 Schlagwörter aus 3 bekannten von 4 Wörtern. 1 davon passt, zu 90 % sicher."),
        ("fr", "2 sujets d’après 3 mots connus sur 4. 1 d’entre eux convient, sûr à 90 %."),
    ],
)
def test_the_status_is_in_the_language_of_the_page(new_page, service, language, status) -> None:
    prediction = make_prediction([0.9, 0.1], 1)
    ours, _ = ask(new_page(), service, prediction, language=language)
    assert ours.replace("\N{NO-BREAK SPACE}", " ") == status


def test_the_status_counts_what_is_shown_now(new_page, service) -> None:
    page = new_page()
    page.goto(service.url)
    page.locator("#text").fill("word70 word71 größe7")
    page.locator("#go").click()
    page.wait_for_selector("#why:not([hidden])")
    assert page.locator("#status").text_content().startswith("10 labels from 3 known words. ")
    page.locator("#top-k").select_option("5")
    page.locator("#status").filter(has_text="5 labels from 3 known words. ").wait_for()
    assert page.locator("#labels li").count() == 5


@pytest.mark.parametrize(
    ("language", "platform", "keys"),
    [
        ("en", "Linux x86_64", ["Ctrl", "Enter"]),
        ("de", "Win32", ["Strg", "Eingabe"]),
        ("fr", "Linux x86_64", ["Ctrl", "Entrée"]),
        ("fr", "MacIntel", ["⌘", "Entrée"]),
    ],
)
def test_keys_are_named_as_they_are_called(new_page, service, language, platform, keys) -> None:
    page = new_page()
    page.add_init_script(
        f"Object.defineProperty(navigator, 'platform', {{get: () => '{platform}'}})"
    )
    page.goto(f"{service.url}/?lang={language}")
    page.locator("#model").filter(has_text=service.answer("/health")["model"]).wait_for()
    assert page.locator("kbd").all_text_contents() == keys


def test_a_remark_for_the_operator_is_not_on_the_page(new_page, service) -> None:
    page = new_page()
    health = service.answer("/health") | {"remark": "free memory"}
    page.route("**/health", lambda route: route.fulfill(body=json.dumps(health)))
    page.goto(service.url)
    page.locator("#model").filter(has_text=health["model"]).wait_for()
    assert "free memory" not in page.locator("footer").text_content()
