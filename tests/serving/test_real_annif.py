"""The real Annif as a client: OVAFLOW_ANNIF names its command, in its own environment."""

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
def annif() -> Path:
    """The command of Annif."""
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
        labels = [line.rstrip("\n").split("\t") for line in lines]
    with open(folder / "yso.csv", "w") as file:
        table = csv.writer(file)
        table.writerow(("uri", "label_fi", "notation"))
        for number, (uri, name) in enumerate(labels):
            table.writerow((uri.strip("<>"), name, number))
    uris = [uri for uri, _ in labels]
    write_part(source / "train_raw.tsv.gz", folder / "train.tsv", uris, 800)
    write_part(source / "test_raw.tsv.gz", folder / "test.tsv", uris, 150)
    return folder


def write_part(source, path, uris, n) -> None:
    """Write the first n documents of a file in Annif's format."""
    with gzip.open(source, "rt") as lines, open(path, "w") as corpus:
        for line in islice(lines, n):
            labels, text = line.rstrip("\n").split("\t", 1)
            subjects = " ".join(uris[int(label)] for label in labels.split(","))
            corpus.write(f"{text}\t{subjects}\n")


def run_ours(folder, *commands) -> str:
    """Run commands of ovaflow in a folder; return the output of the last one."""
    for command in commands:
        output = ovaflow(command.format(folder))
    return output


@pytest.fixture(scope="module")
def model(corpus) -> Path:
    """A model of the corpus; p.h5 has its ten best subjects for each test document."""
    run_ours(
        corpus,
        "prepare --format=annif --train={0}/train.tsv --test={0}/test.tsv "
        "--vocabulary={0}/yso.csv --output={0}/d.h5",
        "means {0}/d.h5 --output={0}/means.h5",
        "plan {0}/d.h5 --shards=1 --output={0}/shards.tsv",
        "train-shard {0}/d.h5 --means={0}/means.h5 --plan={0}/shards.tsv --shard=0 "
        "--output={0}/shard.h5",
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
    """Function that calls Annif, which has a project that asks our service, one of its own, and an
    ensemble of both.
    """
    shared = "language=fi\nvocab=yso"
    endpoint = f"backend=http\nendpoint={service.url}/v1/projects/yso/suggest\nlimit=10"
    (corpus / "projects.cfg").write_text(
        f"[ovaflow]\nname=ovaflow\n{shared}\n{endpoint}\n\n"
        f"[tfidf]\nname=tfidf\n{shared}\nbackend=tfidf\nanalyzer=snowball(finnish)\nlimit=10\n\n"
        f"[both]\nname=both\n{shared}\nbackend=ensemble\nsources=ovaflow,tfidf\nlimit=10\n"
    )
    # Annif would download rules for the ends of sentences; here they are empty
    rules = corpus / "nltk" / "tokenizers" / "punkt_tab" / "english"
    rules.mkdir(parents=True)
    for name in ("abbrev_types.txt", "sent_starters.txt", "collocations.tab", "ortho_context.tab"):
        (rules / name).touch()
    environment = os.environ | {"NLTK_DATA": str(corpus / "nltk")}
    environment.pop("PYTHONPATH", None)

    def call(*arguments, text=None) -> str:
        command = [annif, *arguments]
        done = subprocess.run(
            command, cwd=corpus, env=environment, input=text, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    call("load-vocab", "yso", "yso.csv")
    return call


def suggest(annif, project, text) -> dict[str, float]:
    """Let Annif suggest subjects; return the score of each URI."""
    scores = {}
    for line in annif("suggest", project, text=text).splitlines():
        cells = line.split("\t")
        scores[cells[0]] = float(cells[-1])
    return scores


def test_annif_eval_prints_our_figures(corpus, theirs) -> None:
    output = run_ours(
        corpus,
        "evaluate {0}/p.h5 --dataset={0}/d.h5 --model={0}/model.h5 --training={0}/training.h5 "
        "--output={0}/metrics.json --metrics=annif",
    )
    our_values = read_values(output.split("\n", 1)[1])
    their_values = read_values(theirs("eval", "ovaflow", "test.tsv"))
    assert len(our_values) == 23
    assert 0 < our_values["Precision@1"] < 1
    compared = {name: their_values[name] for name in our_values}
    assert our_values == pytest.approx(compared, abs=6e-5)


def read_values(printed) -> dict[str, float]:
    """Read the metrics that Annif's ``eval`` prints."""
    return {name: float(value) for name, value in LINE.findall(printed)}


def test_annifs_ensemble_with_ours_in_it(corpus, theirs) -> None:
    theirs("train", "tfidf", "train.tsv")
    text = (corpus / "test.tsv").read_text().split("\t")[0]
    first = suggest(theirs, "ovaflow", text)
    second = suggest(theirs, "tfidf", text)
    both = suggest(theirs, "both", text)
    means = {uri: (first.get(uri, 0) + second.get(uri, 0)) / 2 for uri in {*first, *second}}
    assert {*first} & {*both}
    assert {*second} & {*both}
    assert both == pytest.approx({uri: means[uri] for uri in both}, abs=1e-4)


def test_annif_reads_the_suggestions_of_predict(corpus, model, theirs) -> None:
    """As subjects of documents they are those of the same model behind Annif's API."""
    (corpus / "documents").mkdir()
    for number, line in enumerate((corpus / "test.tsv").read_text().splitlines()[:50]):
        (corpus / "documents" / f"{number}.txt").write_text(line.split("\t")[0])
    run_ours(corpus, "predict {0}/model.h5 {0}/documents --top-k=10 --output={0}/documents")
    for file in (corpus / "documents").glob("*.annif"):
        file.rename(file.with_suffix(".tsv"))
    counts = read_values(theirs("eval", "ovaflow", "documents"))
    assert counts["True positives"] == 500
    assert counts["False positives"] == 0
    assert counts["False negatives"] == 0


@pytest.fixture(scope="module")
def description(annif, service):
    """Annif's own description of its API."""
    command = [annif.parent / "python", "-c", "import annif; print(annif.__path__[0])"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    folder = Path(found.stdout.strip())
    document = schemathesis.openapi.from_path(folder / "openapi" / "annif.yaml")
    document.config.update(base_url=f"{service.url}/v1")
    return document


def use_served_names(case) -> None:
    """Replace a made-up project and language by served ones."""
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
            check_answers(operation, mode, 40, use_served_names)
        # nothing in a request can be wrong, or Annif answers 400 to a wrong body without describing
        # it
        elif (operation.body or operation.query) and not path.endswith("/learn"):
            check_answers(operation, mode, 40)
