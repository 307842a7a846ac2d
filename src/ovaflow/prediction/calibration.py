"""The calibration file: from scores to probabilities, and the threshold of each label."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from ovaflow.console.errors import InputError, StrPath
from ovaflow.model.model_file import Model
from ovaflow.model.top_k import NO_LABEL
from ovaflow.prediction.sigmoids import STRAIGHT, bent
from ovaflow.storage.arrays import create_array, map_array
from ovaflow.storage.artifact import checksum_of, create_artifact, inputs_of, open_artifact, parameters_of

KIND = "calibration"

FILE_NAME = "calibration.h5"
"""Next to the model that it belongs to."""

_ARRAYS = ("slope", "intercept", "thresholds")


@dataclass(frozen=True)
class Calibration:
    """A sigmoid and a threshold for each label."""

    # float32 (l,); the probability of label j at the score s is that of the log-odds slope_j s + intercept_j, bent by
    # the parameter ``bend``
    slope: np.ndarray
    intercept: np.ndarray
    thresholds: np.ndarray  # float32 (l,); scores from which on a label is predicted; inf where it never is
    parameters: dict  # how it was fitted, see :mod:`ovaflow.prediction.calibrate`
    inputs: dict  # checksum of ``model``, and of what the fit was made from
    checksum: str = ""

    def probabilities(self, ids: ArrayLike, scores: np.ndarray) -> np.ndarray:
        """Probabilities of labels at their scores: float32 of the same shape, 0 where the id is -1."""
        ids = np.asarray(ids)
        known = ids != NO_LABEL
        log_odds = self.slope[ids] * np.where(known, scores, 0).astype(np.float64) + self.intercept[ids]
        probabilities = expit(bent(log_odds, self.parameters.get("bend", STRAIGHT)))
        return np.where(known, probabilities, 0).astype(np.float32)

    def chosen(self, ids: ArrayLike, scores: np.ndarray) -> np.ndarray:
        """Whether scores reach the labels' thresholds: bool of the same shape."""
        ids = np.asarray(ids)
        return (ids != NO_LABEL) & (scores >= self.thresholds[ids])


def write_calibration(path: StrPath, calibration: Calibration) -> None:
    with create_artifact(path, KIND, calibration.parameters, calibration.inputs) as file:
        for name in _ARRAYS:
            create_array(file, name, np.asarray(getattr(calibration, name), np.float32), infinite=name == "thresholds")


def calibration_of(model: Model, path: StrPath | None = None) -> Calibration | None:
    """Read the calibration of a model from a file, by default the one next to the model; None without one."""
    beside = Path(model.path).with_name(FILE_NAME)
    if path is None and not beside.exists():
        return None
    return read_calibration(path or beside, model)


def read_calibration(path: StrPath, model: Model | None = None) -> Calibration:
    """Read a calibration file, which must belong to ``model`` if that is given."""
    with open_artifact(path, KIND) as file:
        if model is not None and inputs_of(file).get("model") != model.checksum:
            raise InputError(f"does not belong to {model.path}", path=path, remedy="run calibrate again")
        arrays = {name: map_array(file[name]) for name in _ARRAYS}
        return Calibration(**arrays, parameters=parameters_of(file), inputs=inputs_of(file), checksum=checksum_of(file))
