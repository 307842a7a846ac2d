"""Commands, options and settings that were removed, each with its replacement."""

REMOVED_COMMANDS: dict[str, str] = {
    "near-twins": "prepare counts test records with a near twin in training, "
    "metrics.json has figures of the others",
    "prune-curve": "benchmarks/pruning.py measures a model pruned at several thresholds",
    "tree-curve": "benchmarks/trees.py measures a model by number of trees",
}
"""Replacements by command."""

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
"""Replacements by command and option, such as ``("prune", "--max-bytes")``."""

REMOVED_SETTINGS: dict[str, str] = {
    "predict.thresholds": "use --min-probability of ovaflow predict",
    "report.prune_thresholds": "remove it; "
    "benchmarks/pruning.py measures a model pruned at several thresholds",
}
"""Replacements by section of the config file and key; a run or a dataset may have them, too."""


def find_replacement(key: str) -> str:
    """Find what to use instead of a removed setting; empty for other keys."""
    for name, replacement in REMOVED_SETTINGS.items():
        if name.partition(".")[2] == key:
            return replacement
    return ""
