"""Table of the jobs of a dry run: steps, runs and why."""

import re
from collections.abc import Iterator
from typing import Any

_MOST_PLACES = 4
_WIDTH_OF_REASON = 100
_FOLLOWS = "Input files updated by another job"
_MISSING = "Missing output files"
_PARAMS = re.compile(r"Params have changed .*?before: (.*?)\s+now: (.*?)\s*(?:;|$)")
_UPDATED = re.compile(r"Updated input files: (.*?)(?:;|$)")


class JobTable:
    """Jobs of a dry run, counted by step and reason, in the order in which they would run."""

    def __init__(self) -> None:
        # one of the runs that share a result, by its kind and name
        self.shared_by: dict[str, dict[str, str]] = {}
        self._places: dict[tuple[str, str], list[str]] = {}

    def add(self, record: Any) -> None:
        """Add a job by Snakemake's record of it."""
        if record.rule_name != "all":
            key = record.rule_name, describe_reason(record.reason)
            self._places.setdefault(key, []).append(self._name_place(record.wildcards))

    def _name_place(self, wildcards: dict[str, str]) -> str:
        """Name the dataset and the run of a job, such as ``docstrings/msi``."""
        parts = [wildcards[key] for key in ("dataset", "name") if key in wildcards]
        if "run" in wildcards:
            parts.append(wildcards["run"])
        for kind, runs in self.shared_by.items():
            if kind in wildcards:
                parts.append(runs[wildcards[kind]])
        return "/".join(parts)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the table."""
        rows = [("step", "jobs", "of", "why")]
        rules = dict.fromkeys(rule for rule, _ in self._places)
        for each in rules:
            for (rule, reason), places in self._places.items():
                if rule == each:
                    rows.append((rule, str(len(places)), _list_places(places), reason))
        n_jobs = sum(map(len, self._places.values()))
        if not n_jobs:
            return
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        for step, jobs, where, reason in rows:
            row = f"{step:<{widths[0]}}  {jobs:>{widths[1]}}  {where:<{widths[2]}}  {reason}"
            yield row.rstrip()
        yield f"{n_jobs:,} job{'s' if n_jobs > 1 else ''} would run; --printshellcmds shows each"


def describe_reason(reason: str) -> str:
    """Describe in a few words why a job would run, by Snakemake's reason."""
    params = _PARAMS.search(reason)
    updated = _UPDATED.search(reason)
    if params:
        words = f"settings changed: {_join_words(params[1])} to {_join_words(params[2])}"
    elif updated:
        words = f"changed: {updated[1]}"
    else:
        # what follows from other jobs, or is missing, says least
        parts = [part.strip() for part in reason.split(";")]
        telling = [part for part in parts if not part.startswith((_FOLLOWS, _MISSING))]
        words = "; ".join(telling)
    if not words:
        words = "not there yet" if _MISSING in reason else "follows"
    return words if len(words) <= _WIDTH_OF_REASON else f"{words[:_WIDTH_OF_REASON]} ..."


def _join_words(texts: str) -> str:
    """Join the texts of a list that Snakemake shows as Python does."""
    return ", ".join(re.findall(r"'([^']*)'", texts)) or texts


def _list_places(places: list[str]) -> str:
    """List different places; of many the first."""
    different = sorted({place for place in places if place})
    if len(different) > _MOST_PLACES:
        more = len(different) - _MOST_PLACES + 1
        different = [*different[: _MOST_PLACES - 1], f"{more:,} more"]
    return ", ".join(different)
