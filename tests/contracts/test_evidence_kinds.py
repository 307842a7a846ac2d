"""A kind of evidence is one class: a new one is found wherever evidence is; each has all that a
kind needs.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from commands import ovaflow
from contracts.name_letters import LettersOfName
from plain_evidence import PLAIN_KINDS

from ovaflow.dataset.dataset import open_dataset
from ovaflow.prediction.explained_label import make_evidence_fields
from ovaflow.prediction.predictor import Predictor
from ovaflow.report import second_stage
from ovaflow.report.gather import gather_results
from ovaflow.report.page import render_page
from ovaflow.reranking import fitting
from ovaflow.reranking.choice_of_evidence import choose_evidence
from ovaflow.reranking.evidence.kinds import KINDS, find_explained_kinds, list_column_names
from ovaflow.reranking.held_out_candidates import HeldOutCandidates
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.serving import pages
from ovaflow.serving.schemas import make_request_models
from ovaflow.serving.served_model import open_served_model
from ovaflow.storage.artifact import stored_names

DOCS = Path(__file__).parents[2] / "docs"
RERANK = (
    "rerank {model} --dataset={dataset} --held-out={held} --predictions={held_predictions} "
    "--output={reranker}"
)
PREDICT = "predict {model} --dataset={dataset} --reranker={reranker} --output={predictions}"
RELIABILITY = (
    "reliability {predictions} --dataset={dataset} --reranker={reranker} --output={reliability}"
)
LANGUAGES = pages.PAGE_LANGUAGES[1:]
"""Those in which the page has words of its own; English is as the service says it."""


@pytest.fixture(scope="module")
def with_letters():
    """The list of kinds with the new one."""
    KINDS.append(LettersOfName)
    yield
    KINDS.remove(LettersOfName)


@pytest.fixture(scope="module")
def folder(finished, with_letters, tmp_path_factory):
    """A run whose second stage has the new kind, whatever it is worth."""
    copy = finished.copy(tmp_path_factory.mktemp("letters") / "tiny")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "choose_evidence", lambda *texts: [LettersOfName.name])
        for step in (RERANK, PREDICT, RELIABILITY):
            ovaflow(copy.words(step))
    return copy


@pytest.fixture(scope="module")
def dataset(folder):
    return open_dataset(folder["dataset"])


def test_the_file_has_its_columns_and_what_it_stores(folder, dataset) -> None:
    parameters = Reranker.open_header(folder["reranker"]).parameters
    assert parameters["columns"] == [*list_column_names(PLAIN_KINDS), *LettersOfName.column_names]
    theirs = [len(name) for name in dataset.label_names]
    with h5py.File(folder["reranker"]) as file:
        assert file["letters_of_names"][:].tolist() == theirs
    evidence = Predictor.open(folder["model"]).model.reranker.evidence
    assert evidence.get(LettersOfName).letters_of_names.tolist() == theirs


def test_trees_read_it(folder, dataset) -> None:
    predictor = Predictor.open(folder["model"])
    model = predictor.model
    evidence = model.reranker.evidence
    X = predictor.from_split(dataset.test).part(0, 20)
    best = model.first_stage.top_k(X, 50)
    candidates = evidence.find_candidates(evidence.prepare_texts(X, model.first_stage), *best)
    ours = evidence.compute(candidates)[:, :, evidence.column_names.index("number of letters")]
    assert np.array_equal(
        ours, np.array([len(name) for name in dataset.label_names])[candidates.ids]
    )
    assert LettersOfName.name in model.reranker.parameters["check"]["lost"]


def test_explanations_say_it(folder, dataset) -> None:
    [text] = dataset.test_texts([0])
    answer = json.loads(ovaflow("explain", folder["model"], "--text", text, "--json"))
    request = make_request_models(SimpleNamespace(max_text=10_000, max_top_k=9, max_batch=1))[1](
        text=text
    )
    served = open_served_model(folder["model"]).explain(request)
    for entries in (answer["labels"], served["labels"]):
        for entry in entries:
            letters = len(entry["name"])
            theirs = {
                "kind": LettersOfName.name,
                "text": f"its name has {letters} letters",
                "letters": letters,
            }
            assert entry["evidence"][-1] == theirs
    assert f"• its name has {len(answer['labels'][0]['name'])} letters" in ovaflow(
        "explain", folder["model"], "--text", text
    )
    assert make_evidence_fields()["letters"][1].description == "Letters of the label's name."


def test_the_page_says_it_in_its_languages(with_letters) -> None:
    shown = pages.render_pages(
        SimpleNamespace(max_text=99, max_top_k=9, marc_source=None),
        form_fields=(),
        saves_corrections=False,
    )
    for language in LANGUAGES:
        sentence = LettersOfName.wording.translations[language]
        assert pages.load_page_words(language)["evidence"][LettersOfName.name] == sentence
        assert sentence in shown[language].body.decode()


def test_the_report_says_what_it_is_worth(folder) -> None:
    lost = Reranker.open_header(folder["reranker"]).parameters["check"]["lost"]
    [results] = gather_results([folder.path / "msi"])
    table = second_stage.show_second_stage(results)["evidence"]
    names = [kind.name for kind in (*PLAIN_KINDS, LettersOfName)]
    assert [(row.name, row.cells[0].value) for row in table.rows] == [
        (name, lost[name]) for name in names
    ]
    assert LettersOfName.name in render_page([results])


@pytest.mark.parametrize("useful", [True, False])
def test_it_stays_where_it_is_useful(with_letters, useful) -> None:
    generator = np.random.default_rng(0)
    hits = generator.random((400, 10)) < 0.3
    columns = generator.normal(size=(400, 10, len(list_column_names(KINDS))))
    if useful:
        columns[:, :, -1] += 2 * hits
    ids = np.tile(np.arange(10, dtype=np.int32), (400, 1))
    candidates = HeldOutCandidates(KINDS, columns.astype(np.float32), ids, hits, hits.sum(axis=1))
    assert (LettersOfName.name in choose_evidence(candidates, 1)) == useful


def test_a_file_with_it_is_refused_where_it_is_unknown(folder, monkeypatch) -> None:
    monkeypatch.setattr("ovaflow.reranking.reranker_file.KINDS", KINDS[:-1])
    said = ovaflow("predict", folder["model"], "--text=any", status=2)
    assert said.count("\n") == 1
    assert "ranks by evidence that this version of ovaflow does not know; run rerank again" in said


def list_stored_names(kinds) -> list[str]:
    """List the names of the arrays of all kinds in reranker.h5."""
    names = []
    for kind in kinds:
        names += stored_names(kind)
    return names


def test_names_of_kinds_columns_and_arrays_are_different() -> None:
    for names in (
        [kind.name for kind in KINDS],
        list_column_names(KINDS),
        list_stored_names(KINDS),
        [wording.position for _, wording in find_explained_kinds(KINDS)],
    ):
        repeated = {name for name in names if names.count(name) > 1}
        assert not repeated, f"several kinds have {repeated}; rename those of the new one"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_is_documented_and_has_its_words(kind) -> None:
    assert f"| {kind.name} |" in (DOCS / "second-stage.md").read_text(encoding="utf-8")
    assert set(kind.directions) <= set(kind.column_names)
    if kind.wording is not None:
        assert set(kind.wording.translations) == set(LANGUAGES)
        assert kind.wording.superseded_by in {"", *(other.name for other in KINDS)}
        documented = (DOCS / "prediction.md").read_text(encoding="utf-8").splitlines()
        [row] = (line for line in documented if line.startswith(f"| `{kind.name}` |"))
        assert all(f"`{number}`" in row for number in kind.wording.numbers)
