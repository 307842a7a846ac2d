"""A results folder as the pipeline leaves it, small and made by code."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from synthetic import write_weights

from ovaflow.cli import main
from ovaflow.data.dataset import Split, open_dataset, write_dataset
from ovaflow.model.training_file import STATISTICS, Training, typed_statistics
from ovaflow.prediction.predictions import Predictions
from ovaflow.solver.problem import Status
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

TRANSFORM = {"format": "text-tsv", "tfidf": True, "normalize": True, "bias": 1.0, "sublinear": True, "min_df": 2}
SOURCE = {"train": {"name": "<b>train.tsv</b>", "sha256": "0" * 64, "bytes": 123456}, "dropped": {"empty_texts": 3}}
N_TRAIN, N_TEST, N_LABELS, K = 300, 120, 40, 5


def _make_dataset(path):
    random = np.random.default_rng(0)
    n, frequency = N_TRAIN + N_TEST, 0.5 / np.arange(1, N_LABELS + 1)
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
        Split(from_scipy(with_bias[rows]), from_scipy(labels[rows].astype(np.float32)), words[rows], records=ids[rows])
        for rows in (slice(0, N_TRAIN), slice(N_TRAIN, None))
    ]
    names = HOSTILE + [f"label number {label}" for label in range(len(HOSTILE), N_LABELS - 1)] + [FORMULA]
    write_dataset(path, *splits, names, vectorizer.get_feature_names_out(), TRANSFORM | {"source": SOURCE})
    return open_dataset(path)


def _make_run(folder, dataset, C, initialization):
    X, Y = dataset.train.X.to_scipy().toarray(), dataset.train.Y.to_scipy().toarray()
    counts = Y.sum(axis=0).astype(np.int64)
    trained = counts > 0
    weights = np.zeros((dataset.n_labels, dataset.n_features))
    solver = OneVsRestClassifier(LinearSVC(C=C, fit_intercept=False)).fit(X, Y[:, trained])
    weights[trained] = np.vstack([each.coef_ for each in solver.estimators_])
    weights[abs(weights) < 0.01] = 0
    train = {"C": C, "initialization": initialization, "method": "one-vs-all", "loss": "squared-hinge", "epsilon": 0.01}
    model = write_weights(folder / "model.h5", dataset, weights, train=train, prune=0.01)
    _write_training(folder, dataset, counts, 1.25 * C)
    scores = np.where(trained, dataset.test.X.to_scipy() @ weights.T, -np.inf)
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :K].astype(np.int32)
    best = np.take_along_axis(scores, ids, axis=1)
    Predictions(ids, best.astype(np.float32), 0.0123, 1).write(folder / "predictions.h5", dataset=dataset, model=model)
    files = {name: folder / f"{name}.h5" for name in ("model", "training", "predictions")}
    options = {"dataset": dataset.path, "model": files["model"], "training": files["training"]}
    options |= {"output": folder / "metrics.json", "analysis": folder / "analysis.json"}
    arguments = [f"--{name}={path}" for name, path in options.items()]
    assert main(["evaluate", str(files["predictions"]), *arguments]) == 0


def _write_training(folder, dataset, counts, core_seconds):
    random = np.random.default_rng(1)
    trained = counts > 0
    target = np.where(trained, 0.01, 0.0)
    norm = target * random.uniform(0.2, 1.0, len(counts))
    norm[3] = 2.5 * target[3]
    steps = np.where(trained, random.integers(4, 12, len(counts)), 0)
    statistics = dict.fromkeys(STATISTICS, steps) | {
        "positives": counts,
        "cg_steps": 4 * steps,
        "line_search_halvings": steps // 6,
        "gradient_norm": norm,
        "gradient_target": target,
        "status": np.select([~trained, norm > target], [Status.NO_POSITIVES, Status.LINE_SEARCH_FAILED], 0),
    }
    made = Training(core_seconds, 2, 300 << 20, statistics=typed_statistics(statistics))
    made.write(folder / "training.h5", dataset=dataset)


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Folders of two finished runs of a dataset: ``{dataset.h5, msi/..., dismec/...}``."""
    folder = tmp_path_factory.mktemp("results") / "mine"
    dataset = _make_dataset(folder / "dataset.h5")
    _make_run(folder / "msi", dataset, C=1.0, initialization="mean-separating")
    _make_run(folder / "dismec", dataset, C=0.1, initialization="zero")
    return [folder / "msi", folder / "dismec"]
