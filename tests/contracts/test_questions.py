"""Questions that one interface takes are taken by all, and the answers are the same."""

import json
import subprocess
import sys
from urllib.parse import urlencode

import numpy as np
import pytest
from commands import ovaflow, read_answers
from running_service import running_service

from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.question import Question
from ovaflow.settings.inputs import format_options

TEXTS = [
    "word10 word11 word12 left1 right2",
    "word30 word31 word52 word53 left0 right0",
    "nothing known",
]

QUESTIONS = {
    "the default": {},
    "some": {"top_k": 3},
    "more than candidates": {"top_k": 70},
    "what fits": {"fit": True},
    "probable": {"top_k": 9, "min_probability": 0.2},
    "likely by score": {"top_k": 9, "min_score": 0.3},
    "of some labels": {"top_k": 3, "include": ["topic*", "both 0"]},
    "without some": {"fit": True, "exclude": ["topic 1", "both*"]},
}


@pytest.fixture(scope="module")
def model(finished):
    return finished["model"]


@pytest.fixture(scope="module")
def service(model, tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("service"), model) as running:
        yield running


@pytest.fixture(scope="module")
def predictor(model):
    return Predictor.open(model)


def plain_answer(answer) -> tuple[list, list]:
    """Return an answer as numbers that all interfaces round alike."""
    shares = answer.quality.precision, answer.quality.recall
    labels = []
    quality = [None if np.isnan(share) else round(float(share), 4) for share in shares]
    for label in answer.labels:
        score = pytest.approx(float(label.score), abs=1e-6)
        assert label.probability == label.score
        labels.append((label.id, label.name, score, score))
    return labels, quality


def parse_entry(entry) -> tuple[list, list]:
    """Return an answer in JSON as :func:`plain_answer` does."""
    names = ("id", "name", "score", "probability")
    quality = [entry["expected_precision"], entry["expected_recall"]]
    labels = []
    for label in entry["labels"]:
        labels.append(tuple([label.get(name) for name in names]))
    return labels, quality


@pytest.fixture(scope="module", params=QUESTIONS)
def asked(request, predictor):
    """A question, and the answers in Python."""
    question = QUESTIONS[request.param]
    return question, [plain_answer(each) for each in predictor.answer(TEXTS, **question)]


def test_fields_in_python_are_those_of_the_question(predictor, asked) -> None:
    question, theirs = asked
    X = predictor.from_texts(TEXTS)
    assert [plain_answer(each) for each in predictor.answer(X, Question(**question))] == theirs


def test_the_command_line(model, asked, tmp_path) -> None:
    question, theirs = asked
    texts = [f"--text={text}" for text in TEXTS]
    ovaflow("predict", model, texts, format_options(question), f"--output={tmp_path / 'a.jsonl'}")
    ours = [parse_entry(entry) for entry in read_answers(tmp_path / "a.jsonl")]
    assert ours == theirs


def test_http(service, asked) -> None:
    question, theirs = asked
    answer = service.answer("/predict", {"texts": TEXTS, **question})
    assert [parse_entry(entry) for entry in answer["predictions"]] == theirs


ANNIF_NAMES = {"top_k": "limit", "min_probability": "threshold", "language": "language"}
"""Names of fields in Annif's interface."""


def test_annif(service, model, asked) -> None:
    question, theirs = asked
    if not question.keys() <= ANNIF_NAMES.keys():
        pytest.skip("Annif's interface has no such question")
    form = {ANNIF_NAMES[name]: value for name, value in {"top_k": 5, **question}.items()}
    project = service.answer("/v1/projects")["projects"][0]["project_id"]
    results = service.answer(
        f"/v1/projects/{project}/suggest", urlencode({"text": TEXTS[0], **form})
    )["results"]
    assert [(each["label"], each["score"]) for each in results] == [
        label[1:3] for label in theirs[0][0]
    ]


def test_labels_that_are_not_asked_for_are_not_missing(predictor) -> None:
    few = next(predictor.answer(TEXTS[:1], top_k=2, include=["topic 1", "topic 3"]))
    many = next(predictor.answer(TEXTS[:1], top_k=2, include=[]))
    assert few.quality.recall == 1
    assert many.quality.recall < 0.99


def test_every_field_is_asked_here_or_needs_another_model() -> None:
    asked = set().union(*QUESTIONS.values())
    assert Question.model_fields.keys() - asked == {"most_specific", "language"}


NEW = """
import numpy as np
from ovaflow.prediction import question
from ovaflow.settings.section import setting


class LongerQuestion(question.Question):
    longest_name: int = setting(1000, "no label with a longer name", ge=1)

    def select_kept(self, model, ids, scores):
        short = np.array([len(name) <= self.longest_name for name in model.label_names])
        return super().select_kept(model, ids, scores) & short[np.maximum(ids, 0)]


question.Question = LongerQuestion
"""


def test_a_new_field_is_everywhere(model, tmp_path) -> None:
    """A field of five lines is on the command line, in HTTP and its description, and in Python."""
    (tmp_path / "longer.py").write_text(NEW)
    code = f"""
import json
import longer
from types import SimpleNamespace
from ovaflow.cli import main
from ovaflow.prediction.predictor import Predictor
from ovaflow.serving.schemas import make_request_models
from ovaflow.serving.served_model import open_served_model

model, asked = {str(model)!r}, {{"top_k": 14, "longest_name": 6}}
answers = []
for answer in Predictor.open(model).answer(["both"], **asked):
    answers.append([label.name for label in answer.labels])
request, _ = make_request_models(SimpleNamespace(max_text=99, max_top_k=20, max_batch=1))
served = open_served_model(model).predict(request.model_validate({{"text": "both"}} | asked))
answers.append([label["name"] for label in served["predictions"][0]["labels"]])
options = ["--top-k=14", "--longest-name=6", "--output-format=jsonl"]
assert main(["predict", model, "--text=both", *options]) == 0
print(json.dumps([answers, request.model_json_schema()["properties"]["longest_name"]]))
assert main(["predict", "--help"]) == 0
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    by_command, rest, *_ = done.stdout.splitlines()
    answers, described = json.loads(rest)
    names = [label["name"] for label in json.loads(by_command)["labels"]]
    assert answers == [names, names]
    assert names
    assert max(len(name) for name in names) <= 6
    assert described["description"] == "No label with a longer name."
    assert described["minimum"] == 1
    assert "--longest-name INTEGER" in done.stdout
    assert "No label with a longer name." in done.stdout
