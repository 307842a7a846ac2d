"""Commands, options and settings that are gone, each with what to use instead."""

REMOVED_COMMANDS: dict[str, str] = {
    "near-twins": "prepare counts test records with a near twin in training, metrics.json has figures of the others",
    "prune-curve": "benchmarks/pruning.py measures a model pruned at several thresholds",
    "tree-curve": "benchmarks/trees.py measures a model by number of trees",
}

REMOVED_OPTIONS: dict[tuple[str, str], str] = {
    (
        "predict",
        "--review",
    ): "use --sure and --unsure, whose file has the records with the most expected errors first",
    ("predict", "--thresholds"): "use --min-probability",
    ("prune", "--max-bytes"): "use --threshold",
    ("rerank", "--with-run"): "use --suggestions with a file of what another model suggests",
    ("rerank", "--thresholds"): "use --min-probability of ovaflow predict",
    (
        "evaluate",
        "--reference",
    ): "metrics.json has the unknown words and the languages of the test set",
    ("evaluate", "--groups"): "use --analysis, whose bins say the same of finer groups",
    ("report", "--published"): "compare with the tables of docs/results.md",
    ("report", "--benchmarks"): "use snakemake --report, which has what each job took",
}
"""By command and option, such as ``("prune", "--max-bytes")``."""

REMOVED_SETTINGS: dict[str, str] = {
    "predict.thresholds": "use --min-probability of ovaflow predict",
    "report.prune_thresholds": "remove it; benchmarks/pruning.py measures a model pruned at several thresholds",
}
"""By section of the config file and key; a run or a dataset may have them, too."""


def find_replacement(key: str) -> str:
    """Return what to use instead of a setting that is gone; empty for other keys."""
    return next(
        (words for name, words in REMOVED_SETTINGS.items() if name.partition(".")[2] == key), ""
    )
