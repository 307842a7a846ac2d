"""A trained and evaluated model, as the page knows it."""

from dataclasses import dataclass

from ovaflow.console.errors import InputError
from ovaflow.model.model_file import KIND as MODEL
from ovaflow.model.training_file import read_training
from ovaflow.report.analysis import Analysis, read_analysis
from ovaflow.report.calibrations import CalibrationOfRun, read_calibration_of
from ovaflow.report.details import Details, read_details
from ovaflow.report.embeddings import EmbeddingOfRun, read_embedding_of
from ovaflow.report.training import Training, summarise
from ovaflow.report.trees import Trees, read_trees
from ovaflow.storage.arrays import map_vector
from ovaflow.storage.artifact import checksum_of, open_artifact, parameters_of
from ovaflow.storage.damage import remake, text_of
from ovaflow.storage.texts import read_json

HIDDEN_PARAMETERS = ("transform",)
"""Parameters of a model that the dataset card tells already."""

PROPENSITIES = ("propensity_a", "propensity_b")
"""Settings of the evaluation, kept among the metrics."""

LEADING_PARAMETERS = ("method", "initialization")
"""Parameters that stand before all others."""


@dataclass(frozen=True)
class Run:
    """A trained and evaluated model.

    Attributes
    ----------
    name : str
    series : int or None
        Its number among the runs that figures show, for colour and marker; None for the others.
    metrics : dict
        metrics.json; without the figures of a test set that is empty.
    parameters : list of (str, str)
        Settings of the model.
    summary : str
        Method and starting point, in words; empty where not recorded.
    k : int
        Labels predicted for each instance.
    analysis : Analysis or None
        None where there is none of this model.
    training : Training or None
        None where the method keeps no such statistics.
    trees : Trees or None
        None where the method grows none.
    embedding : EmbeddingOfRun or None
        None where the method embeds no labels.
    trained : int or None
        Labels with a classifier.
    n_test : int
    details : Details
    calibration : CalibrationOfRun or None
        None where the run is not calibrated.
    made : tuple of (str, float)
        Version of ovaflow that wrote the model, and when, in seconds since 1970.
    """

    name: str
    series: int | None
    metrics: dict
    parameters: list
    summary: str
    k: int
    analysis: Analysis | None
    training: Training | None
    trees: Trees | None
    embedding: EmbeddingOfRun | None
    trained: int | None
    n_test: int
    details: Details
    calibration: CalibrationOfRun | None = None
    made: tuple = ("", 0.0)

    def _metric(self, name):
        value = self.metrics.get(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def _per_label(self, value):
        return value / self.trained if value is not None and self.trained else None

    @property
    def train_seconds(self):
        """Threads times wall seconds of the solver."""
        return self._metric("train_seconds")

    @property
    def milliseconds_per_label(self):
        """Time of a core for a trained label."""
        return self._per_label(self.train_seconds and 1000 * self.train_seconds)

    @property
    def newton_per_label(self):
        """Mean Newton steps."""
        return self.training and self.training.newton_per_label

    @property
    def cg_per_label(self):
        """Mean conjugate gradient steps."""
        return self.training and self.training.cg_per_label

    @property
    def peak_rss_bytes(self):
        """Largest resident memory of a shard job."""
        return self.training.peak_rss_bytes if self.training else self._metric("train_peak_rss_bytes")

    @property
    def nonzeros(self):
        """Weights of the model."""
        return self._metric("nonzeros")

    @property
    def nonzeros_per_label(self):
        """Weights of a trained label."""
        return self._per_label(self.nonzeros)

    @property
    def model_bytes(self):
        """Size of the model file."""
        return self._metric("model_bytes")

    @property
    def predict_seconds(self):
        """Wall time of scoring the test set."""
        return self._metric("predict_seconds") if self.n_test else None

    @property
    def predict_milliseconds_per_instance(self):
        """Wall time of scoring a test instance."""
        return None if self.predict_seconds is None else 1000 * self.predict_seconds / self.n_test


def read_run(folder, dataset, predictions, series):
    """Read a run.

    Parameters
    ----------
    folder : pathlib.Path
    dataset : Dataset
    predictions : Predictions
    series : int or None

    Returns
    -------
    Run

    Raises
    ------
    InputError
        If a file is missing or holds something else.
    """
    model = folder / "model.h5"
    parameters, trained, checksum, version = _model(model)
    training, trees = _training(folder, dataset, checksum)
    metrics = read_metrics(folder / "metrics.json", checksum)
    if predictions.inputs.get("model") not in (None, checksum):
        raise InputError("of another model", path=folder / "predictions.h5", remedy=remake("predictions"))
    k, n_test = predictions.ids.shape[1], len(predictions.ids)
    propensities = {name: metrics[name] for name in PROPENSITIES if name in metrics}
    settings = _settings(parameters | {"top_k": k} | propensities)
    return Run(
        name=folder.name,
        series=series,
        metrics=metrics if len(dataset.test.Y.indices) else _without_quality(metrics),
        parameters=settings,
        summary=_summary(dict(settings)),
        k=k,
        analysis=read_analysis(folder / "analysis.json", checksum),
        training=training,
        trees=trees,
        embedding=read_embedding_of(folder, dataset.label_names),
        trained=trained if training is None else training.trained,
        n_test=n_test,
        details=read_details(folder, metrics),
        calibration=read_calibration_of(folder, checksum),
        made=(version, model.stat().st_mtime),
    )


def _without_quality(metrics):
    """Metrics of a test set without labels: nothing was measured, where the file says 0."""
    return {name: value for name, value in metrics.items() if "@" not in name}


def _settings(parameters):
    shown = {name: value for name, value in parameters.items() if name not in HIDDEN_PARAMETERS}
    order = {name: place for place, name in enumerate(LEADING_PARAMETERS)}
    return sorted(flatten(shown), key=lambda pair: order.get(pair[0], len(order)))


def _model(path):
    """Settings, number of classifiers, checksum and maker of a model, whatever its method keeps beside them."""
    with open_artifact(path, MODEL) as file:
        trained = int(map_vector(file["trained"], bool).sum()) if "trained" in file else None
        return parameters_of(file), trained, checksum_of(file), text_of(file, "ovaflow_version")


def _training(folder, dataset, checksum):
    """Statistics of the labels and of the trees, as far as the method keeps them."""
    path = folder / "training.h5"
    if not path.exists():
        return None, None
    recorded = read_training(path)
    if recorded.inputs.get("dataset") not in (None, dataset.checksum):
        raise InputError("of a training on another dataset", path=path, remedy=remake("training"))
    return summarise(recorded) if recorded.statistics else None, read_trees(folder, recorded, checksum)


def read_metrics(path, model=None):
    """Read a run's metrics.

    Parameters
    ----------
    path : path-like
    model : str, optional
        Checksum of the model that they must be of.

    Returns
    -------
    dict
        Flat.

    Raises
    ------
    InputError
        If the file is missing or holds something else.
    """
    return read_json(path, "metrics", model)


def flatten(parameters):
    """Nested settings as pairs of name and value.

    Parameters
    ----------
    parameters : dict

    Returns
    -------
    list of (str, str)
        The innermost names, in the order given.
    """
    pairs = []
    for name, value in parameters.items():
        pairs.extend(flatten(value) if isinstance(value, dict) else [(name, _setting(value))])
    return pairs


def _setting(value):
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value)


def _summary(settings):
    words = (settings.get(name, "") for name in ("method", "initialization"))
    return ", ".join(word for word in words if word)
