"""What makes an artifact anew, for messages: the command, and the rule of the workflow."""

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


def made_by(kind):
    """Who writes artifacts of a kind.

    Parameters
    ----------
    kind : str

    Returns
    -------
    str
        Such as ``"ovaflow means, rule compute_means"``; empty for unknown kinds.
    """
    command, rule = _MADE_BY.get(kind, (None, None))
    return ", ".join([f"ovaflow {command}"] * bool(command) + [f"rule {rule}"] * bool(rule))


def remake(kind):
    """What to do about a damaged artifact.

    Parameters
    ----------
    kind : str

    Returns
    -------
    str
    """
    maker = made_by(kind)
    return "delete it and make it again" + (f" ({maker})" if maker else "")
