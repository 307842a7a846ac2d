"""The real Annif as a client: OVAFLOW_ANNIF names its command, which lives in an environment of its
own.
"""

import csv
import gzip
import os
import re
import subprocess
from itertools import islice
from pathlib import Path

import pytest
import schemathesis
from commands import ovaflow
from openapi_checks import check_answers, list_operations
from running_service import running_service
from schemathesis import GenerationMode

pytestmark = pytest.mark.long

LINE = re.compile(r"^(\S.*?)(?::\s+|\s\s+|\t)(\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def annif():
    command = os.environ.get("OVAFLOW_ANNIF")
    if not command:
        pytest.skip("OVAFLOW_ANNIF names no command of Annif")
    return Path(command)


@pytest.fixture(scope="module")
def corpus(real_data, tmp_path_factory):
    """A folder with 800 and 150 documents of kirjastonhoitaja and their vocabulary, in Annif's
    formats.
    """
    folder = tmp_path_factory.mktemp("annif")
    source = real_data / "kirjastonhoitaja"
    with gzip.open(source / "labels.txt.gz", "rt") as lines:
        uris, names = zip(*(line.rstrip("\n").split("\t") for line in lines), strict=True)
    with open(folder / "yso.csv", "w") as table:
        csv.writer(table).writerows([("uri", "label_fi", "notation")])
        csv.writer(table).writerows(
            (uri.strip("<>"), name, number)
            for number, (uri, name) in enumerate(zip(uris, names, strict=True))
        )
    for part, n in (("train", 800), ("test", 150)):
        with (
            gzip.open(source / f"{part}_raw.tsv.gz", "rt") as lines,
            open(folder / f"{part}.tsv", "w") as corpus,
        ):
            for line in islice(lines, n):
                labels, text = line.rstrip("\n").split("\t", 1)
                corpus.write(
                    f"{text}\t{' '.join(uris[int(label)] for label in labels.split(','))}\n"
                )
    return folder


def ours(folder, *commands):
    for command in commands:
        said = ovaflow(*command.format(folder).split())
    return said


@pytest.fixture(scope="module")
def model(corpus):
    """A model of the corpus and its ten best subjects for each test document."""
    ours(
        corpus,
        "prepare --format=annif --train={0}/train.tsv --test={0}/test.tsv --vocabulary={0}/yso.csv --output={0}/d.h5",
        "means {0}/d.h5 --output={0}/means.h5",
        "plan {0}/d.h5 --shards=1 --output={0}/shards.tsv",
        "train-shard {0}/d.h5 --means={0}/means.h5 --plan={0}/shards.tsv --shard=0 --output={0}/shard.h5",
        "merge {0}/shard.h5 --dataset={0}/d.h5 --output={0}/model.h5 --statistics={0}/training.h5",
        "predict {0}/model.h5 --dataset={0}/d.h5 --top-k=10 --output={0}/p.h5",
    )
    return corpus / "model.h5"


@pytest.fixture(scope="module")
def service(model, tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("service"), f"yso={model}") as running:
        yield running


@pytest.fixture(scope="module")
def theirs(annif, corpus, service):
    """Annif with a project that asks our service, one of its own, and an ensemble of both, as a
    function to call.
    """
    shared = "language=fi\nvocab=yso"
    endpoint = f"backend=http\nendpoint={service.url}/v1/projects/yso/suggest\nlimit=10"
    (corpus / "projects.cfg").write_text(
        f"[ovaflow]\nname=ovaflow\n{shared}\n{endpoint}\n\n"
        f"[tfidf]\nname=tfidf\n{shared}\nbackend=tfidf\nanalyzer=snowball(finnish)\nlimit=10\n\n"
        f"[both]\nname=both\n{shared}\nbackend=ensemble\nsources=ovaflow,tfidf\nlimit=10\n"
    )
    # what Annif would download: rules for the ends of sentences, here without any
    rules = corpus / "nltk" / "tokenizers" / "punkt_tab" / "english"
    rules.mkdir(parents=True)
    for name in ("abbrev_types.txt", "sent_starters.txt", "collocations.tab", "ortho_context.tab"):
        (rules / name).touch()
    environment = os.environ | {"NLTK_DATA": str(corpus / "nltk")}
    environment.pop("PYTHONPATH", None)

    def call(*arguments, text=None):
        command = [annif, *arguments]
        done = subprocess.run(
            command, cwd=corpus, env=environment, input=text, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    call("load-vocab", "yso", "yso.csv")
    return call


def suggestions(printed):
    """URI, name, notation and score of each line."""
    return {line.split("\t")[0]: line.split("\t")[1:] for line in printed.splitlines()}


def test_annif_eval_prints_our_figures(corpus, theirs) -> None:
    told = "evaluate {0}/p.h5 --dataset={0}/d.h5 --model={0}/model.h5 --training={0}/training.h5"
    said = ours(corpus, f"{told} --output={{0}}/metrics.json --metrics=annif")
    ours_ = dict(LINE.findall(said.split("\n", 1)[1]))
    theirs_ = dict(LINE.findall(theirs("eval", "ovaflow", "test.tsv")))
    assert len(ours_) == 23
    assert 0 < float(ours_["Precision@1"]) < 1
    assert {name: float(value) for name, value in ours_.items()} == pytest.approx(
        {name: float(theirs_[name]) for name in ours_}, abs=6e-5
    )


def test_annifs_ensemble_with_ours_in_it(corpus, theirs) -> None:
    theirs("train", "tfidf", "train.tsv")
    text = (corpus / "test.tsv").read_text().split("\t")[0]
    first, second, both = (
        {
            uri: float(score)
            for uri, (*_, score) in suggestions(theirs("suggest", name, text=text)).items()
        }
        for name in ("ovaflow", "tfidf", "both")
    )
    means = {uri: (first.get(uri, 0) + second.get(uri, 0)) / 2 for uri in {*first, *second}}
    assert {*first} & {*both}
    assert {*second} & {*both}
    assert both == pytest.approx({uri: means[uri] for uri in both}, abs=1e-4)


def test_annif_takes_what_predict_writes(corpus, model, theirs) -> None:
    """The suggestions, as the subjects of documents, are those of the same model behind its
    interface.
    """
    (corpus / "documents").mkdir()
    for number, line in enumerate((corpus / "test.tsv").read_text().splitlines()[:50]):
        (corpus / "documents" / f"{number}.txt").write_text(line.split("\t")[0])
    ours(corpus, "predict {0}/model.h5 {0}/documents --top-k=10 --output={0}/documents")
    for file in (corpus / "documents").glob("*.annif"):
        file.rename(file.with_suffix(".tsv"))
    said = dict(LINE.findall(theirs("eval", "ovaflow", "documents")))
    assert [said[name] for name in ("True positives", "False positives", "False negatives")] == [
        "500",
        "0",
        "0",
    ]


@pytest.fixture(scope="module")
def description(annif, service):
    """Annif's own description of its interface."""
    found = [annif.parent / "python", "-c", "import annif; print(annif.__path__[0])"]
    folder = Path(subprocess.run(found, capture_output=True, text=True, check=True).stdout.strip())
    document = schemathesis.openapi.from_path(folder / "openapi" / "annif.yaml")
    document.config.update(base_url=f"{service.url}/v1")
    return document


def name_what_is_there(case) -> None:
    """A project and a language that are served, in place of made-up ones."""
    if case.path_parameters:
        case.path_parameters["project_id"] = "yso"
    for part in (case.query, case.body):
        if isinstance(part, dict) and "language" in part:
            part["language"] = "fi"
        if isinstance(part, dict) and "languages" in part:
            part["languages"] = ["fi", "sv"]


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_answers_are_as_annif_describes_them(description, mode) -> None:
    asked = list_operations(description)
    assert len(asked) == 8
    for path, _, operation in asked:
        if mode.is_positive:
            check_answers(operation, mode, 40, name_what_is_there)
        # nothing in a request can be wrong, or Annif answers 400 to a wrong body without describing
        # it
        elif (operation.body or operation.query) and not path.endswith("/learn"):
            check_answers(operation, mode, 40)
