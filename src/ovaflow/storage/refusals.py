"""What is said of an artifact that is not as it was written, and what makes it again."""

from typing import Any

from ovaflow.console.errors import InputError, StrPath

_MADE_BY = {
    "features": ("choose-features", "choose_features"),
    "C": ("choose-c", "choose_C"),
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
    "index": ("index", ""),
    "predictions": ("predict", "predict_labels"),
    "metrics": ("evaluate", "evaluate_predictions"),
    "analysis": ("evaluate", "evaluate_predictions"),
    "calibration": ("calibrate", "calibrate_scores"),
    "calibration-curve": ("calibration-curve", "measure_calibration"),
    "estimate": ("estimate", "estimate_training"),
    "prune-curve": ("prune-curve", "measure_pruning"),
    "tree-curve": ("tree-curve", "measure_trees"),
    "embedding-description": ("describe-embedding", "describe_embedding"),
}


def producer(kind: str) -> str:
    """Who writes artifacts of a kind, such as `` (ovaflow means, rule compute_means)``; empty for unknown kinds."""
    command, rule = _MADE_BY.get(kind, (None, None))
    return f" (ovaflow {command}{rule and f', rule {rule}'})" if command else ""


def remake(kind: str) -> str:
    """What to do about an artifact that cannot be used."""
    return f"delete it and make it again{producer(kind)}"


def kind_error(kind: str, path: StrPath, message: str = "") -> InputError:
    """The error that says that a file is something else, which may be anybody's."""
    remedy = f"give the path of a {kind} file{producer(kind)}"
    return InputError(message or f"not a {kind} file, or damaged", path=path, remedy=remedy)


def stale_error(kind: str, path: StrPath, message: str) -> InputError:
    """The error that says that a file was made from something else."""
    return InputError(f"stale: {message}", path=path, remedy=f"make it again{producer(kind)}")


def damage_error(item: Any, message: object) -> InputError:
    """The error that says what is wrong with the file of an open artifact, group or array."""
    return InputError(f"damaged ({message})", path=item.file.filename, remedy=remake(text_attribute(item.file, "kind")))


def text_attribute(item: Any, name: str) -> str:
    """Text among the attributes of an open artifact."""
    value = item.attrs[name]
    return value.decode() if isinstance(value, bytes) else value
