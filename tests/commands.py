"""Functions that run commands of ovaflow in this process."""

import contextlib
import io
import json
import shlex
from collections.abc import Iterable

from ovaflow.cli import main


def split_words(words) -> list[str]:
    """Split a command line into its words.

    Parameters
    ----------
    words : sequence
        Words, paths, and lists of these; or a single text, which is split as a shell does it.
    """
    if len(words) == 1 and isinstance(words[0], str):
        return shlex.split(words[0])
    return list_words(words)


def list_words(words) -> list[str]:
    """List words that are given alone or in lists."""
    flat = []
    for each in words:
        if isinstance(each, Iterable) and not isinstance(each, str):
            flat += list_words(each)
        else:
            flat.append(str(each))
    return flat


def ovaflow(*words, status=0) -> str:
    """Run a command that ends with a status; return standard output, or standard error if that
    status is not 0.

    The words are those of :func:`split_words`.
    """
    output = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    redirect = contextlib.redirect_stderr if status else contextlib.redirect_stdout
    with redirect(output):
        assert main(split_words(words)) == status
    return output.buffer.getvalue().decode()


def predict_answers(*words) -> list[dict]:
    """Run ``ovaflow predict``; return its answer to each text."""
    return [json.loads(line) for line in ovaflow("predict", words).splitlines()]


def read_answers(path) -> list[dict]:
    """Read the answers of ``ovaflow predict`` in a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def list_label_values(answers, key="id") -> list[list]:
    """List the values that the labels of each answer have for a key."""
    return [[label[key] for label in answer["labels"]] for answer in answers]
