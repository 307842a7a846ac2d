"""Settings of Rembrandt."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ovaflow.settings.section import (
    SEED_SETTING,
    AboveZero,
    AtLeastZero,
    Positive,
    Scope,
    Section,
    as_list,
    setting,
)

_KERNELS = Scope("gaussian and laplacian features", lambda section: section.features != "linear")


def _list_distinct(value: float | list[float] | None) -> tuple[float, ...]:
    """List one or several values without repetitions; None is no value."""
    if value is None:
        return ()
    return tuple(dict.fromkeys(as_list(value)))


class Embed(Section):
    """Settings of the embedding of labels."""

    rank: Positive = setting(
        100, "number of dimensions of the label embedding; more: better and slower"
    )
    embedding: Literal["rembrandt", "compressed-sensing", "pca", "plst", "none"] = setting(
        "rembrandt",
        "rembrandt, or a baseline of the paper: compressed-sensing (random), pca (features),"
        " plst (labels), none",
    )
    oversampling: int = setting(20, "extra dimensions while the embedding is computed", ge=0)
    passes: Positive = setting(1, "subspace iterations that compute the embedding")
    ridge: AtLeastZero | Annotated[list[AtLeastZero], Field(min_length=1)] = setting(
        1.0, "regularization of the least-squares fits; from a list, the best on held-out instances"
    )
    seed: int = SEED_SETTING

    @property
    def ridges(self) -> tuple[float, ...]:
        """Ridges to choose from, or a single one."""
        return _list_distinct(self.ridge)

    @property
    def relevant(self) -> dict[str, Any]:
        """Settings that have an effect."""
        if self.embedding == "none":
            return {"embedding": "none"}
        return dict(self)


class ProjectInstances(Section):
    """Settings of the decoder's features."""

    decoder: Literal["auto", "softmax", "logistic"] = setting(
        "auto",
        "auto: softmax if every instance has one label, otherwise a logistic loss for each label",
    )
    features: Literal["linear", "gaussian", "laplacian"] = setting(
        "linear",
        "features of the decoder; gaussian and laplacian: random cosine features of that kernel",
    )
    random_features: Positive = setting(4000, "number of random features", where=_KERNELS)
    bandwidth: float | None = setting(
        None, "bandwidth of the kernel", where=_KERNELS, null="chosen on held-out instances", gt=0
    )
    seed: int = SEED_SETTING

    @property
    def relevant(self) -> dict[str, Any]:
        """Settings that have an effect."""
        unused = list(self.irrelevant_settings)
        if unused:
            # linear features: nothing is drawn
            unused.append("seed")
        return self._exclude(*unused)


class TuneDecoder(Section):
    """Settings of the choice of the decoder's settings."""

    decoder_C: AboveZero | Annotated[list[AboveZero], Field(min_length=1)] | None = setting(
        None,
        "weight of the losses; from a list, the best on held-out instances",
        null="1, kernels 30, softmax 500",
    )
    decoder_epsilon: float = setting(
        0.1, "logistic decoder: relative gradient norm at which the solver stops", gt=0, le=100
    )
    held_out: float = setting(
        0.1,
        "share of the instances on which C and the end of softmax are chosen; 0: softmax is solved"
        " to the end",
        ge=0,
        lt=1,
    )
    seed: int = SEED_SETTING

    @model_validator(mode="after")
    def _require_held_out_instances(self) -> Self:
        if len(self.candidates) > 1 and not self.held_out:
            raise ValueError(
                "decoder_C: choosing from several needs held-out instances, and held_out is 0"
            )
        return self

    @property
    def candidates(self) -> tuple[float, ...]:
        """Values of the decoder's C; empty if the decoder's default is used."""
        return _list_distinct(self.decoder_C)


class Rembrandt(TuneDecoder, ProjectInstances, Embed):
    """Settings of the embedding and decoding of labels."""
