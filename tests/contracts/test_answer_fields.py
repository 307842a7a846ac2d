"""A field of an answer is declared in one place; Python, files, the service and its description
have it.
"""

import csv
import json
import subprocess
import sys

from ovaflow.prediction.answer import Answer
from ovaflow.prediction.predictor import Predictor

NEW = """
from typing import Annotated

from ovaflow.prediction import answer


class LongerAnswer(answer.Answer):
    letters: Annotated[int, answer.TableColumn("letters")] = answer.Field(
        description="Letters of its labels' names."
    )

    @classmethod
    def with_quality(cls, quality, labels, **fields):
        letters = sum(len(label["name"]) for label in labels)
        return super().with_quality(quality, labels=labels, letters=letters, **fields)


answer.Answer = LongerAnswer
"""

ASK = """
import json
import sys

import longer
from types import SimpleNamespace
from ovaflow.cli import main
from ovaflow.prediction.predictor import Predictor
from ovaflow.serving.schemas import PredictionsReply, make_request_models
from ovaflow.serving.served_model import open_served_model

model = sys.argv[1]
[answer] = Predictor.open(model).answer(["both"], top_k=3)
request, _ = make_request_models(SimpleNamespace(max_text=99, max_top_k=20, max_batch=1))
served = open_served_model(model).predict(request.model_validate({"text": "both", "top_k": 3}))
for name in "jsonl", "csv":
    assert main(["predict", model, "--text=both", "--top-k=3", f"--output=answer.{name}"]) == 0
schema = PredictionsReply.model_json_schema(mode="serialization")
print(json.dumps([answer.letters, served["predictions"][0]["letters"], schema["$defs"]]))
"""


def test_a_new_field_is_everywhere(finished, tmp_path) -> None:
    """A field of one line and what computes it."""
    (tmp_path / "longer.py").write_text(NEW)
    command = [sys.executable, "-c", ASK, str(finished["model"])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    in_python, over_http, schemas = json.loads(done.stdout.splitlines()[-1])
    line = json.loads((tmp_path / "answer.jsonl").read_text())
    with open(tmp_path / "answer.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    letters = sum(len(label["name"]) for label in line["labels"])
    assert letters > 0
    assert in_python == over_http == line["letters"] == letters
    assert [row["letters"] for row in rows] == 3 * [str(letters)]
    described = schemas["LongerAnswer"]["properties"]["letters"]
    assert (described["description"], described["type"]) == (
        "Letters of its labels' names.",
        "integer",
    )


def test_an_answer_is_its_own_json(finished) -> None:
    """Other programs can read JSON Lines, and answers of the service, as the same model."""
    [answer] = Predictor.open(finished["model"]).answer(["both"], top_k=3)
    line = json.dumps(answer.as_json())
    assert Answer.model_validate_json(line).as_json() == answer.as_json()
