"""Embedding, projection and decoder trained in this process, without files."""

import numpy as np

from ovaflow.data.dataset import Dataset, Split
from ovaflow.rembrandt.decoder import train_decoder
from ovaflow.rembrandt.embedding import compute_embedding
from ovaflow.rembrandt.joining import dense_rows, model_settings
from ovaflow.rembrandt.model_file import EmbeddingModel
from ovaflow.rembrandt.projected_file import Projected, decoder_of, full_matrix, project
from ovaflow.rembrandt.tuning import tune


def train_embedding_model(dataset, embedding, projecting, tuning, threads=1):
    """Embed, project and decode in this process: the model that shards of the same decoder are joined into."""
    made = compute_embedding(dataset, embedding, threads)
    projected = project_in_memory(dataset, made, embedding, projecting, threads)
    tuned = tune(projected, dataset, made, tuning, threads)
    labels = np.arange(dataset.n_labels, dtype=np.int32)
    done = train_decoder(projected, labels, tuned.decoding, threads)
    counts = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels)
    settings = model_settings(projected, tuned)
    return EmbeddingModel(
        dataset.path,
        done.trained,
        counts,
        checksum="",
        parameters={"train": settings, "transform": dataset.parameters},
        inputs={"dataset": dataset.checksum},
        projection=projected.projection,
        decoder=dense_rows(done.weights, 0, dataset.n_labels),
        given=dataset.names,
    )


def project_in_memory(dataset, embedding, settings, projecting, threads=1):
    """The projected training instances as if read from a file, but for the checksum."""
    projection, features = project(dataset, embedding, projecting, threads)
    decoder = decoder_of(dataset.train.Y, projecting.decoder)
    parameters = {"bias": 1.0} | embedding.made_with(settings) | projecting.felt | {"decoder": decoder}
    split = Split(full_matrix(features), dataset.train.Y)
    return Projected(
        Dataset(dataset.path, split, split, "", parameters),
        projection,
        decoder,
        source=dataset.checksum,
        core_seconds=0.0,
        peak_rss_bytes=0,
    )
