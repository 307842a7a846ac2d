"""Files as strangers write them, through ``ovaflow prepare``: prepared as stated, or refused in one line."""

import re
from collections import Counter

import numpy as np
import pytest
from malformed_files import CASES

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.data.readers.formats import TEXT_FORMATS

BEFORE = b"what was there before"
PROGRESS = re.compile(r"[^\n]*: [\d,]+ \w+ in [\d.]+ s\n")
PLAIN = ("--no-normalize", "--bias=0")
ALL_TOKENS = ("--min-df=1", "--max-df=1.0", "--tfidf=false", "--no-sublinear")


def arguments_of(case, folder):
    """Write the case's files; the command line that prepares them, training and testing on the same."""
    path = folder / f"data{case.suffix}"
    path.write_bytes(case.content)
    given = {"train": path, "test": path}
    for option, content in case.files.items():
        given[option] = folder / f"{option}.npy" if case.format == "npz" else folder / option
        given[option].write_bytes(content)
    options = [*PLAIN, *(ALL_TOKENS if case.format in TEXT_FORMATS else ()), *case.options]
    files = [f"--{option}={path}" for option, path in given.items()]
    return ["prepare", f"--format={case.format}", *files, *options, f"--output={folder / 'dataset.h5'}"]


def complaint(written):
    """The one line of an error, below what was said of the files read before."""
    line = PROGRESS.sub("", written)
    assert line.startswith("ovaflow: error: "), written
    assert line.count("\n") == 1
    assert line.removesuffix("\n").isprintable()
    return line.removeprefix("ovaflow: error: ").removesuffix("\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.format}: {case.name}")
def test_prepared_or_refused(case, tmp_path, capfd):
    arguments = arguments_of(case, tmp_path)
    output = tmp_path / "dataset.h5"
    output.write_bytes(BEFORE)
    before = {path.name for path in tmp_path.iterdir()}
    status = main(arguments)
    written = capfd.readouterr()
    assert {path.name for path in tmp_path.iterdir()} == before
    if case.legal is not None:
        assert status == 0, written.err
        assert instances_of(open_dataset(output), case) == rounded(case.legal)
        return
    assert status == 2, written.out
    assert output.read_bytes() == BEFORE
    line = complaint(written.err)
    assert case.refused in line
    assert len(line) < 1000 + len(str(tmp_path))
    if case.line is not None:
        assert re.search(rf"^{re.escape(str(tmp_path))}/[\w.-]+, line {case.line}: ", line), line


def instances_of(dataset, case):
    """What the file says of each instance, as the case does."""
    X, Y = dataset.train.X.to_scipy(), dataset.train.Y.to_scipy()
    found = []
    for i in range(X.shape[0]):
        labels = Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tolist()
        row = slice(X.indptr[i], X.indptr[i + 1])
        entries = {j: v for j, v in zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True) if v}
        if case.format in TEXT_FORMATS:
            entries = {dataset.feature_names[j] for j in entries}
        if case.format in TEXT_FORMATS or "labels" in case.files:
            labels = {dataset.label_names[j] for j in labels}
        found.append((entries, labels))
    return found


def rounded(instances):
    """Instances whose values are as float32 holds them."""
    return [
        ({j: float(np.float32(v)) for j, v in entries.items()} if isinstance(entries, dict) else entries, labels)
        for entries, labels in instances
    ]


def test_the_corpus_is_large_enough():
    formats = Counter(case.format for case in CASES)
    assert sum(case.legal is None for case in CASES) > 150
    assert min(formats.values()) >= 15
    assert len({(case.format, case.name) for case in CASES}) == len(CASES)
