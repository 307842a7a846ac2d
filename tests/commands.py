"""Commands of ovaflow, run in this process."""

import contextlib
import io
import json

from ovaflow.cli import main


def ovaflow(*words, status=0):
    """Run a command that ends so: what it wrote to standard output, or to standard error if it
    failed.
    """
    written = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    redirect = contextlib.redirect_stderr if status else contextlib.redirect_stdout
    with redirect(written):
        assert main(list(map(str, words))) == status
    return written.buffer.getvalue().decode()


def predict_answers(*words):
    """Answers of ``ovaflow predict``, of one text each."""
    return [json.loads(line) for line in ovaflow("predict", *words).splitlines()]


def read_answers(path):
    """Answers that ``ovaflow predict`` wrote to a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def list_label_values(answers, key="id"):
    """What the labels of each answer have for a key."""
    return [[label[key] for label in answer["labels"]] for answer in answers]
