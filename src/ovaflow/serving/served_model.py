"""A model file that is being served, with its calibration, and the watch over both."""

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.tfidf import normal_form
from ovaflow.prediction.calibration import FILE_NAME, Calibration, read_calibration
from ovaflow.prediction.explanation import explains, nearest_labels, strongest_features
from ovaflow.prediction.index_file import index_path
from ovaflow.prediction.predictor import Predictor


@dataclass(frozen=True)
class Files:
    """What is served.

    Attributes
    ----------
    model : pathlib.Path
    calibration : pathlib.Path or None
        None: ``calibration.h5`` beside the model, where it is there and belongs to it.
    """

    model: Path
    calibration: Path | None = None

    def state(self):
        """What changes when one of the files is replaced.

        Returns
        -------
        tuple
            Equal as long as the files stay the same.
        """
        return tuple(_state_of(path) for path in (self.model, self._calibration_path, index_path(self.model)))

    def open(self):
        """Open the files and load all that answers need.

        Returns
        -------
        ServedModel

        Raises
        ------
        InputError
            If the model cannot be read, or the calibration that was named does not belong to it.
        """
        state = self.state()
        predictor = Predictor.open(self.model)
        served = ServedModel(predictor, *self._calibration_of(predictor), state)
        served.warm_up()
        return served

    @property
    def _calibration_path(self):
        return self.calibration or self.model.parent / FILE_NAME

    def _calibration_of(self, predictor):
        """The calibration and, in its place, why there is none."""
        if self.calibration is None and not self._calibration_path.exists():
            return None, ""
        try:
            return read_calibration(self._calibration_path, predictor.model), ""
        except InputError as error:
            if self.calibration is not None:
                raise
            return None, f"no probabilities: {error}"


def _state_of(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@dataclass(frozen=True)
class ServedModel:
    """One model and its calibration; a request is answered by the one that it began with.

    Attributes
    ----------
    predictor : Predictor
    calibration : Calibration or None
    remark : str
        What the operator should know about it.
    state : tuple
        Of the files when they were opened.
    """

    predictor: Predictor
    calibration: Calibration | None = None
    remark: str = ""
    state: tuple = field(default=(), repr=False)

    @property
    def checksum(self):
        """Of the model file."""
        return self.predictor.model.checksum

    @property
    def explains(self):
        """Whether scores are sums over features, so that they can be explained."""
        return explains(self.predictor.model)

    @cached_property
    def search_forms(self):
        """Names of the labels as they are searched: without case."""
        return [normal_form(name) for name in self.predictor.label_names]

    def warm_up(self):
        """Load kernels, names, vocabulary and index, and answer a made-up request of each kind."""
        predictor = self.predictor
        predictor.prepare()
        predictor.top_k(predictor.from_features([{}]), 1)
        assert len(self.search_forms) in (0, predictor.n_labels)
        trained = np.flatnonzero(predictor.model.trained[:1000])
        if self.explains and len(trained):
            strongest_features(predictor, int(trained[0]), 1)
            nearest_labels(predictor, int(trained[0]), 1)
