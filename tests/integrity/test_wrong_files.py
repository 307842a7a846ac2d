"""Files that kernels were not written for, with checksums that fit: refused in one line before a kernel runs."""

import shutil

import numpy as np
import pytest
from finished_run import Folder, run
from forged import Forgery

DATA, INDICES, INDPTR, PANEL = "weights/data", "weights/indices", "weights/indptr", "000000/"


def array(name, change):
    """A change of an array."""

    def forge(forgery):
        forgery.arrays[name] = change(forgery.arrays[name])

    return forge


def put(name, place, value):
    """Another value at a place of an array."""

    def change(values):
        values[place] = value
        return values

    return array(name, change)


def attribute(group, name, value):
    """Another attribute."""
    return lambda forgery: forgery.attributes[group].update({name: value})


def cut(values):
    return values[:-1]


def not_rising(offsets):
    offsets[1] = offsets[-1] + 1
    return offsets


def circle(children):
    children[np.flatnonzero(children)[-1]] = 1
    return children


def one_posting(forgery):
    """A posting list with one label, which is none of the panel's."""
    d = len(forgery.arrays[f"{PANEL}step"])
    lists = {"values": np.int16([1]), "labels": np.uint16([60_000]), "indptr": np.int64([0] * d + [1])}
    forgery.arrays |= {f"{PANEL}{name}": values for name, values in lists.items()}


PREDICT = "predict {{{}}} --text=word11".format
TRAIN = (
    "train-shard {dataset} --means={means} --plan={plan} --shard=0 --initialization=label-tree --label-tree={tree} "
    "--root={root} --output={out}"
)
COMMANDS = {
    "model": PREDICT("model"),
    "index": PREDICT("model"),
    "calibration": PREDICT("model") + " --probabilities",
    "forest": PREDICT("forest"),
    "embedded": PREDICT("embedded"),
    "dataset": "means {dataset} --output={out}",
    "means": TRAIN,
    "root": TRAIN,
    "tree": TRAIN,
    "embedding": "project {dataset} --embedding={embedding} --output={out}",
}
"""What reads each file."""

CASES = {
    "model: no weights": lambda forgery: forgery.arrays.pop(DATA),
    "model: weights of 64 bits": array(DATA, lambda values: values.astype(np.float64)),
    "model: index beyond the features": put(INDICES, 3, 1 << 30),
    "model: fewer columns than used": attribute("weights", "n_columns", 3),
    "model: indptr that falls": array(INDPTR, not_rising),
    "model: fewer trained": array("trained", cut),
    "model: names beyond their block": put("label_names/offsets", -1, 1 << 50),
    "model: fewer names of labels": array("label_names/offsets", cut),
    "model: fewer idf": array("idf", cut),
    "index: labels beyond the panel": one_posting,
    "index: indptr beyond": put(f"{PANEL}indptr", -1, 1 << 40),
    "index: a panel of fewer labels": array(f"{PANEL}base", cut),
    "index: a first label elsewhere": attribute("000000", "first", 5),
    "calibration: fewer slopes": array("slope", cut),
    "forest: children in a circle": array("forest/children", circle),
    "forest: trees beyond the nodes": put("forest/starts", -1, 1 << 40),
    "forest: other labels": attribute("forest/distributions", "n_columns", 1000),
    "embedded: another rank": attribute("projection", "rank", 70),
    "embedded: panels of another width": array("projection/panels", lambda values: values[:, :, :32]),
    "embedded: a decoder of other features": array("decoder", lambda values: values[:, :-1]),
    "dataset: test instances of fewer features": attribute("test/X", "n_columns", 1),
    "dataset: labels of other instances": array("train/Y/indptr", lambda values: np.append(values, values[-1])),
    "dataset: fewer names of labels": array("label_names/offsets", cut),
    "means: of fewer labels": lambda forgery: [array(name, cut)(forgery) for name in ("pp", "xp", "counts")],
    "means: of fewer features": array("x_mean", cut),
    "root: of fewer features": array("weights", cut),
    "tree: an order with a label twice": put("order", 0, 1),
    "tree: parents in a circle": put("parent", slice(2), [1, 0]),
    "embedding: another rank": attribute("", "rank", 99),
    "embedding: vectors of another shape": array("vectors", cut),
}


@pytest.mark.parametrize("case", CASES)
def test_artifacts(finished, tmp_path, case):
    shutil.copytree(finished.path, tmp_path / "tiny")
    place, name = Folder(tmp_path / "tiny"), case.split(":")[0]
    forgery = Forgery(place[name])
    CASES[case](forgery)
    forgery.write(place[name])
    done = run(*place.words(COMMANDS[name], out=place.path / "out.h5"))
    assert done.refused, f"{done.status} {done.said}"
    assert not (place.path / "out.h5").exists()
    assert place[name].name in done.said or "means, root or label tree" in done.said
