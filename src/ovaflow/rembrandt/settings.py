"""Settings of a Rembrandt run."""

from dataclasses import asdict, dataclass

from ovaflow.rembrandt.random_features import MAPS

METHOD = "rembrandt"
"""Name of the method in configs and models."""

DECODERS = ("auto", "softmax", "logistic")
"""Losses of the decoder; auto: softmax where every training instance has one label."""

WEIGHTS = {"softmax": 500.0, "logistic": 1.0, "kernel": 30.0}
"""C of each decoder, the last with random features and logistic losses.

What held-out instances said: of aloi for the softmax, of delicious for the logistic, of bibtex for the last. Early
stopping is what regularises the softmax decoder."""


@dataclass(frozen=True)
class Projecting:
    """How instances become features of the decoder.

    Attributes
    ----------
    decoder : str
        A name of :data:`DECODERS`.
    features : str
        ``"linear"``, or a name of :data:`ovaflow.rembrandt.random_features.MAPS`.
    random_features : int
        Number of random cosine features.
    bandwidth : float or None
        Of their kernel, where projected instances have about length 1; None: chosen on held-out instances.
    seed : int
    """

    decoder: str = "auto"
    features: str = "linear"
    random_features: int = 4000
    bandwidth: float | None = None
    seed: int = 0

    def __post_init__(self):
        if self.features != "linear" and self.features not in MAPS:
            raise ValueError(f"no features named {self.features!r}")

    @property
    def parameters(self):
        """Settings that the result depends on."""
        given = asdict(self)
        if self.features == "linear":
            for name in ("random_features", "bandwidth", "seed"):
                given.pop(name)
        return given


@dataclass(frozen=True)
class Tuning:
    """How the decoder's settings are chosen.

    Attributes
    ----------
    C : tuple of float
        Weights of the losses to choose from; empty: one of :data:`WEIGHTS`.
    epsilon : float
        Relative gradient tolerance of the one-vs-all problems.
    held_out : float
        Share of the instances on which C is chosen, and the softmax decoder's number of iterations;
        0: C is given, and the softmax decoder is solved.
    seed : int
        Of their choice.
    """

    C: tuple = ()
    epsilon: float = 0.1
    held_out: float = 0.1
    seed: int = 0

    def candidates(self, decoder, random=False):
        """Values of C to choose from.

        Parameters
        ----------
        decoder : str
        random : bool
            Whether its features are random cosines.

        Returns
        -------
        tuple of float
        """
        return self.C or (WEIGHTS["kernel" if random and decoder == "logistic" else decoder],)


@dataclass(frozen=True)
class Decoding:
    """How the decoder is trained, after all choices.

    Attributes
    ----------
    C : float
        Weight of the losses.
    epsilon : float
        Relative gradient tolerance of the one-vs-all problems.
    iterations : int or None
        Of the softmax decoder; None: it is solved.
    seed : int
        Of its first phase.
    """

    C: float
    epsilon: float = 0.1
    iterations: int | None = None
    seed: int = 0
