"""What is said of an artifact that is not as it was written, and what makes it again."""

from typing import Any

import h5py
import numpy as np

from ovaflow.console.errors import InputError, StrPath

_MADE_BY = {
    "dataset": ("prepare", "prepare_dataset"),
    "means": ("means", "compute_means"),
    "label-tree": ("label-tree", "compute_label_tree"),
    "root": ("root", "compute_root"),
    "plan": ("plan", "plan_shards"),
    "shard": ("train-shard", "train_shard"),
    "tree-shard": ("train-trees", "train_trees"),
    "embedding": ("embed", "embed_labels"),
    "projected": ("project", "project_instances"),
    "tuned": ("tune-decoder", "tune_decoder"),
    "model": ("merge", "merge_shards"),
    "training": ("merge", "merge_shards"),
    "index": ("index", None),
    "predictions": ("predict", "predict_labels"),
    "metrics": ("evaluate", "evaluate_predictions"),
    "analysis": ("evaluate", "evaluate_predictions"),
    "calibration": ("calibrate", "calibrate_scores"),
    "calibration-curve": ("calibration-curve", "measure_calibration"),
    "trace": ("trace", "trace_labels"),
    "estimate": ("estimate", "estimate_training"),
    "cold-start": ("cold-start", "measure_cold_start"),
    "prune-curve": ("prune-curve", "measure_pruning"),
    "tree-curve": ("tree-curve", "measure_trees"),
    "embedding-description": ("describe-embedding", "describe_embedding"),
}


def made_by(kind: str) -> str:
    """Who writes artifacts of a kind, such as ``ovaflow means, rule compute_means``; empty for unknown kinds."""
    command, rule = _MADE_BY.get(kind, (None, None))
    return ", ".join([f"ovaflow {command}"] * bool(command) + [f"rule {rule}"] * bool(rule))


def remake(kind: str) -> str:
    """What to do about an artifact that cannot be used."""
    return "delete it and make it again" + (f" ({made_by(kind)})" if made_by(kind) else "")


def not_a(kind: str, path: StrPath, message: str = "") -> InputError:
    """The error that says that a file is something else, which may be anybody's."""
    remedy = f"give the path of a {kind} file" + (f" ({made_by(kind)})" if made_by(kind) else "")
    return InputError(message or f"not a {kind} file, or damaged", path=path, remedy=remedy)


def damaged(item: Any, message: object) -> InputError:
    """The error that says what is wrong with the file of an open artifact, group or array."""
    return InputError(f"damaged ({message})", path=item.file.filename, remedy=remake(text_of(item.file, "kind")))


def text_of(item: Any, name: str) -> str:
    """Text among the attributes of an open artifact."""
    attribute = h5py.h5a.open(item.id, name.encode())
    stored = attribute.get_type()
    if not isinstance(stored, h5py.h5t.TypeStringID) or stored.is_variable_str():
        # of another program
        return item.attrs[name]
    return raw_attribute(attribute).rstrip(b"\0").decode()


def raw_attribute(attribute: h5py.h5a.AttrID) -> bytes:
    """Bytes of an attribute; h5py's conversions would take longer than all else in opening a small file."""
    stored = attribute.get_type()
    value = np.empty(attribute.shape, f"V{stored.get_size()}")
    attribute.read(value, stored)
    return value.tobytes()
