"""A results folder as the pipeline leaves it, small and made by code."""

from dataclasses import replace

import numpy as np
import pytest
from commands import ovaflow
from finished_run import make_run_of_every_method
from sklearn.feature_extraction.text import TfidfVectorizer

from ovaflow.dataset.dataset import Split, open_dataset, write_dataset
from ovaflow.sparse.csr import from_scipy

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quoted\" & 'quoted' `{{ 7 * 7 }}` $x^2$",
    "مكتبة \u202edesrever\u202c",
    "nul\x00 and \x1b[31m and \ud800 alone",
    "very long " * 400,
    "",
    "</svg></style></script><b>bold",
]
"""Label names that a page must survive."""

FORMULA = '=HYPERLINK("http://nowhere.invalid";"click")'
"""Name of the last label, which is always missed."""

TRANSFORM = {
    "format": "text-tsv",
    "tfidf": True,
    "normalize": True,
    "bias": 1.0,
    "sublinear": True,
    "min_df": 2,
}
SOURCE = {
    "train": {"name": "<b>train.tsv</b>", "sha256": "0" * 64, "bytes": 123456},
    "dropped": {"empty_texts": 3},
}
N_TRAIN = 300
N_TEST = 120
N_LABELS = 40


def _make_dataset(path):
    random = np.random.default_rng(0)
    n = N_TRAIN + N_TEST
    frequency = 0.5 / np.arange(1, N_LABELS + 1)
    labels = random.random((n, N_LABELS)) < frequency
    words = [
        " ".join(f"topic{label}" for label in np.flatnonzero(row) for _ in range(2))
        + " "
        + " ".join(f"word{word}" for word in random.zipf(1.5, 12) % 300)
        for row in labels
    ]
    words[N_TRAIN] = '<img src="http://nowhere.invalid/x.png" onerror=alert(1)> ' + words[N_TRAIN]
    labels[:N_TRAIN, -1] = False
    labels[N_TRAIN : N_TRAIN + 20, -1] = True
    ids = [f"<i>{row}</i>" for row in range(n)]
    vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True).fit(words[:N_TRAIN])
    X = vectorizer.transform(words)
    with_bias = np.hstack([X.toarray(), np.ones((n, 1))])
    splits = [
        Split(
            from_scipy(with_bias[rows]),
            from_scipy(labels[rows].astype(np.float32)),
            words[rows],
            records=ids[rows],
        )
        for rows in (slice(0, N_TRAIN), slice(N_TRAIN, None))
    ]
    names = (
        HOSTILE
        + [f"label number {label}" for label in range(len(HOSTILE), N_LABELS - 1)]
        + [FORMULA]
    )
    write_dataset(
        path, *splits, names, vectorizer.get_feature_names_out(), TRANSFORM | {"source": SOURCE}
    )
    return open_dataset(path)


STEPS = """
means {dataset} --output={run}/means.h5
plan {dataset} --shards=1 --output={run}/shards.tsv
train-shard {dataset} --means={run}/means.h5 --plan={run}/shards.tsv --shard=0 {options} --output={run}/shard.h5
merge {run}/shard.h5 --dataset={dataset} --output={run}/model.h5 --statistics={run}/training.h5
predict {run}/model.h5 --dataset={dataset} --top-k=5 --output={run}/predictions.h5
evaluate {run}/predictions.h5 --dataset={dataset} --model={run}/model.h5 --training={run}/training.h5 {written}
"""


def _make_run(run, dataset, options) -> None:
    written = f"--output={run}/metrics.json --analysis={run}/analysis.json"
    for step in STEPS.strip().splitlines():
        ovaflow(
            *step.format(dataset=dataset.path, run=run, options=options, written=written).split()
        )


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Folders of two finished runs of a dataset: ``{dataset.h5, msi/..., dismec/...}``."""
    folder = tmp_path_factory.mktemp("results") / "mine"
    dataset = _make_dataset(folder / "dataset.h5")
    _make_run(folder / "msi", dataset, "--C=1 --initialization=mean-separating")
    _make_run(folder / "dismec", dataset, "--C=0.1 --initialization=zero")
    return [folder / "msi", folder / "dismec"]


@pytest.fixture(scope="session")
def runs_with_dev(runs, tmp_path_factory):
    """Two runs of the same dataset, which also has a dev part: the first 40 of the test instances."""
    folder = tmp_path_factory.mktemp("with-dev") / "mine"
    whole = open_dataset(runs[0].parent / "dataset.h5")
    replace(whole, names_in_memory=whole.names, dev=whole.test.take(np.arange(40))).write(
        folder / "dataset.h5"
    )
    made = [folder / f"msi.C-{C}" for C in (0.1, 1)]
    for run in made:
        _make_run(
            run, open_dataset(folder / "dataset.h5"), f"--C={run.name[6:]} --initialization=zero"
        )
    return made


@pytest.fixture(scope="session")
def finished(make_once):
    return make_run_of_every_method(make_once)
