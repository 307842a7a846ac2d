"""The classifier of Rembrandt for Python programs."""

from dataclasses import dataclass

from ovaflow.estimators.base import LabelClassifier
from ovaflow.methods.rembrandt.projection import SOFTMAX


@dataclass(kw_only=True, eq=False, repr=False)
class RembrandtClassifier(LabelClassifier):
    """Rembrandt (Mineiro and Karampatziakis 2015): labels embedded in few dimensions, and decoded.

    Parameters have the names and, but for ``normalize``, the defaults of the config file; see
    docs/reference/config.md for their legal values. Those of :class:`LabelClassifier` come on top.

    Parameters
    ----------
    rank : int
        Number of dimensions in which labels are embedded; more: better and slower.
    embedding : str
        ``"rembrandt"``, or a baseline of the paper: ``"compressed-sensing"`` (random), ``"pca"``
        (of the features), ``"plst"`` (of the labels alone) or ``"none"``.
    oversampling : int
        Extra dimensions while the embedding is computed.
    passes : int
        Subspace iterations that compute the embedding.
    ridge : float or list of float
        Regularization of the least-squares fits; from a list, the best on held-out instances.
    seed : int
        Seed of all random draws.
    decoder : str
        ``"softmax"``, ``"logistic"`` (a loss for each label) or ``"auto"``: softmax if every
        instance has one label.
    features : str
        Features of the decoder: ``"linear"``, or random cosine features of a ``"gaussian"`` or
        ``"laplacian"`` kernel.
    random_features : int
        Number of random features.
    bandwidth : float, optional
        Bandwidth of the kernel; None: chosen on held-out instances.
    decoder_C : float or list of float, optional
        Weight of the losses; from a list, the best on held-out instances; None: 1, kernels 30,
        softmax 500.
    decoder_epsilon : float
        Logistic decoder: relative gradient norm at which the solver stops.
    held_out : float
        Share of the instances used to choose C and the end of softmax; 0: it is solved to the end.
    """

    rank: int = 100
    embedding: str = "rembrandt"
    oversampling: int = 20
    passes: int = 1
    ridge: float | list[float] = 1.0
    seed: int = 0
    decoder: str = "auto"
    features: str = "linear"
    random_features: int = 4000
    bandwidth: float | None = None
    decoder_C: float | list[float] | None = None
    decoder_epsilon: float = 0.1
    held_out: float = 0.1

    method = "rembrandt"

    def _has_one_label(self) -> bool:
        """Return whether the decoder ranks one label per instance."""
        return self.model_.parameters["train"]["decoder"] == SOFTMAX
