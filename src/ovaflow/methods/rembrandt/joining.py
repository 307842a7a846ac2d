"""Join the projection and the shards of the decoder to one model."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from ovaflow.console.errors import StrPath
from ovaflow.dataset.dataset import Dataset
from ovaflow.methods.rembrandt.decoder import train_decoder
from ovaflow.methods.rembrandt.embedding import compute_embedding
from ovaflow.methods.rembrandt.model_file import METHOD, EmbeddingModel
from ovaflow.methods.rembrandt.projection import SOFTMAX, Projected, project_instances
from ovaflow.methods.rembrandt.settings import Embed, ProjectInstances, Rembrandt, TuneDecoder
from ovaflow.methods.rembrandt.tuning import TunedDecoder, tune_decoder
from ovaflow.model.merge import merge
from ovaflow.model.model_file import LabelWeights
from ovaflow.model.training_file import Shard, Training
from ovaflow.settings.section import Section
from ovaflow.storage.writing import create_temporary_folder

SectionType = TypeVar("SectionType", bound=Section)


def join_decoder(
    shards: Sequence[StrPath],
    projected: Projected,
    tuned: TunedDecoder,
    dataset: Dataset,
    model_path: StrPath,
    training_path: StrPath,
) -> int:
    """Write the model and the training file of a run; return the number of trained labels.

    Their bytes do not depend on how labels were divided into shards.
    """
    projected.require(dataset=dataset)
    with create_temporary_folder(training_path) as folder:
        decoder_path = folder / "decoder.h5"
        decoder_training_path = folder / "solved.h5"
        merge(shards, projected.dataset, 0.0, decoder_path, decoder_training_path)
        decoder = LabelWeights.open(decoder_path)
        decoder_training = Training.open(decoder_training_path)
        settings = make_model_settings(projected, tuned)
        _make_model(dataset, projected, settings, decoder).write(model_path)
    parameters = settings
    statistics = {name: np.array(each) for name, each in decoder_training.statistics.items()}
    if projected.decoder == SOFTMAX:
        # one problem for all labels: there are no statistics of each
        iterations = int(statistics["newton_steps"].max(initial=0))
        parameters = settings | {"iterations": iterations}
        statistics = {}
    training = Training(
        projected.core_seconds + tuned.core_seconds + decoder_training.core_seconds,
        decoder_training.shards,
        max(projected.peak_rss_bytes, tuned.peak_rss_bytes, decoder_training.peak_rss_bytes),
        statistics=statistics,
        parameters=parameters,
    )
    training.write(training_path, dataset=dataset)
    return int(decoder.trained.sum())


def make_model_settings(projected: Projected, tuned: TunedDecoder) -> dict[str, Any]:
    """Collect the settings that a model records."""
    settings = dict(projected.dataset.parameters)
    settings.pop("bias", None)
    settings["method"] = METHOD
    unused = {"seed", "epsilon" if projected.decoder == SOFTMAX else "iterations"}
    for name, value in tuned.parameters.items():
        if name not in unused:
            settings[name] = value
    return settings


def _make_model(
    dataset: Dataset,
    projected: Projected,
    settings: dict[str, Any],
    decoder: LabelWeights | Shard,
) -> EmbeddingModel:
    """Make the model of a projection and a trained decoder."""
    return EmbeddingModel.in_memory(
        dataset,
        decoder.trained,
        {"train": settings},
        projection=projected.projection,
        decoder=decoder.weights.to_scipy().toarray(),
    )


def train_embedding_model(
    dataset: Dataset, settings: Rembrandt, threads: int = 1
) -> EmbeddingModel:
    """Embed, project and decode in this process.

    The model is the same as that of joined shards.
    """
    embedding = compute_embedding(dataset, _select_settings(settings, Embed), threads)
    projected = project_instances(
        dataset, embedding, _select_settings(settings, ProjectInstances), threads
    )
    tuned = tune_decoder(
        projected, dataset, embedding, _select_settings(settings, TuneDecoder), threads
    )
    labels = np.arange(dataset.n_labels, dtype=np.int32)
    decoder = train_decoder(projected, labels, tuned.decoding, threads)
    return _make_model(dataset, projected, make_model_settings(projected, tuned), decoder)


def _select_settings(settings: Rembrandt, model: type[SectionType]) -> SectionType:
    """Select the settings of one step."""
    return model.model_validate(settings.model_dump(include=set(model.model_fields)))
