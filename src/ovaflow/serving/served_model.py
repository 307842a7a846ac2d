"""A model file that is being served, with its calibration."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ovaflow.data.tokens import normal_form
from ovaflow.machine.limits import memory_left
from ovaflow.prediction.calibration import FILE_NAME, Calibration, read_calibration
from ovaflow.prediction.explanation import explains, nearest_labels, strongest_features
from ovaflow.prediction.predictor import Predictor, remark_on_memory
from ovaflow.prediction.sources import remark_on_columns


@dataclass(frozen=True)
class ServedModel:
    """A model, its calibration if there is one, and what the operator should know about them."""

    predictor: Predictor
    calibration: Calibration | None = None
    remark: str = ""

    @property
    def checksum(self):
        """The model file's checksum."""
        return self.predictor.model.checksum

    @property
    def explains(self):
        """Whether scores are sums over features, so that they can be explained."""
        return explains(self.predictor.model)

    @property
    def vocabulary(self):
        """Name of the subject vocabulary: that of its file, without endings."""
        file = self.predictor.model.transform.get("source", {}).get("files", {}).get("vocabulary")
        return file and file["name"].split(".")[0]

    @cached_property
    def search_forms(self):
        """Names of the labels as they are searched: without case."""
        return [normal_form(name) for name in self.predictor.label_names]

    def warm_up(self):
        """Load kernels, names, vocabulary and index, and answer a made-up request of each kind."""
        predictor = self.predictor
        predictor.prepare()
        predictor.top_k(predictor.from_features([{}]), 1)
        for of_labels in (self.search_forms, predictor.label_uris, predictor.model.label_notations):
            assert len(of_labels) in (0, predictor.n_labels)
        trained = np.flatnonzero(predictor.model.trained[:1000])
        if self.explains and len(trained):
            strongest_features(predictor, int(trained[0]), 1)
            nearest_labels(predictor, int(trained[0]), 1)


def open_served_model(path, calibration=None):
    """Open a model with the calibration given, else with ``calibration.h5`` next to it, which must belong to it."""
    predictor = Predictor.open(path)
    beside = Path(path).parent / FILE_NAME
    remarks = remark_on_columns(predictor.model), remark_on_memory(predictor, memory_left())
    remark = "; ".join(filter(None, remarks))
    if not (calibration or beside.exists()):
        return ServedModel(predictor, None, remark)
    return ServedModel(predictor, read_calibration(calibration or beside, predictor.model), remark)
