"""Joining: projection and the shards of the decoder become one model."""

import numpy as np

from ovaflow.methods.rembrandt.decoder import train_decoder
from ovaflow.methods.rembrandt.embedding import compute_embedding
from ovaflow.methods.rembrandt.model_file import METHOD, EmbeddingModel
from ovaflow.methods.rembrandt.projection import SOFTMAX, project_instances
from ovaflow.methods.rembrandt.settings import Embed, ProjectInstances, TuneDecoder
from ovaflow.methods.rembrandt.tuning import tune_decoder
from ovaflow.model.merge import merge
from ovaflow.model.model_file import LabelWeights
from ovaflow.model.training_file import Training
from ovaflow.storage.writing import create_temporary_folder


def join_decoder(shards, projected, tuned, dataset, model_path, training_path):
    """Write the model and training file of a run; their bytes do not depend on how labels were
    divided into shards.
    """
    projected.require(dataset=dataset)
    with create_temporary_folder(training_path) as folder:
        decoder_path = folder / "decoder.h5"
        solved_path = folder / "solved.h5"
        merge(shards, projected.dataset, 0.0, decoder_path, solved_path)
        decoder = LabelWeights.open(decoder_path)
        solved = Training.open(solved_path)
        settings = model_settings(projected, tuned)
        _model_of(dataset, projected, settings, decoder).write(model_path)
    seconds = projected.core_seconds + tuned.core_seconds + solved.core_seconds
    peak = max(projected.peak_rss_bytes, tuned.peak_rss_bytes, solved.peak_rss_bytes)
    parameters = settings
    statistics = {name: np.array(values) for name, values in solved.statistics.items()}
    if projected.decoder == SOFTMAX:
        iterations = int(statistics["newton_steps"].max(initial=0))
        parameters = settings | {"iterations": iterations}
        statistics = {}
    training = Training(seconds, solved.shards, peak, statistics=statistics, parameters=parameters)
    training.write(training_path, dataset=dataset)
    return int(decoder.trained.sum())


def model_settings(projected, tuned):
    settings = {
        name: value for name, value in projected.dataset.parameters.items() if name != "bias"
    }
    other = ("epsilon",) if projected.decoder == SOFTMAX else ("iterations",)
    choices = {
        name: value for name, value in tuned.parameters.items() if name not in (*other, "seed")
    }
    return settings | {"method": METHOD} | choices


def _model_of(dataset, projected, settings, solved):
    decoder = solved.weights.to_scipy().toarray()
    parts = {"projection": projected.projection, "decoder": decoder}
    return EmbeddingModel.in_memory(dataset, solved.trained, {"train": settings}, **parts)


def train_embedding_model(dataset, settings, threads=1):
    """Embed, project and decode in this process: the model that shards of the same decoder are
    joined into.
    """
    embedding, projecting, tuning = (
        _part(settings, each) for each in (Embed, ProjectInstances, TuneDecoder)
    )
    made = compute_embedding(dataset, embedding, threads)
    projected = project_instances(dataset, made, projecting, threads)
    tuned = tune_decoder(projected, dataset, made, tuning, threads)
    labels = np.arange(dataset.n_labels, dtype=np.int32)
    done = train_decoder(projected, labels, tuned.decoding, threads)
    return _model_of(dataset, projected, model_settings(projected, tuned), done)


def _part(settings, model):
    """The settings of one step."""
    return model.model_validate(settings.model_dump(include=set(model.model_fields)))
