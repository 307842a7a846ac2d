"""Which stages a run has, and how far each is."""

import time
from dataclasses import dataclass, field

from ovaflow.console.progress import clock
from snakemake_logger_plugin_ovaflow.job_log import JobLog, progress_of
from snakemake_logger_plugin_ovaflow.plan import work_of_shards

TITLES = {
    "warm_up": "compile",
    "download_dataset": "download",
    "download_arrays": "download",
    "download_file": "download",
    "prepare_dataset": "prepare",
    "compute_means": "means",
    "compute_label_tree": "label tree",
    "hold_out_instances": "hold out",
    "plan_shards": "plan",
    "compute_root": "root",
    "estimate_training": "estimate",
    "train_shard": "train",
    "train_trees": "train",
    "train_decoder": "train",
    "embed_labels": "embed",
    "project_instances": "project",
    "tune_decoder": "tune",
    "merge_shards": "merge",
    "merge_trees": "merge",
    "join_decoder": "merge",
    "predict_labels": "predict",
    "evaluate_predictions": "evaluate",
    "calibrate_scores": "calibrate",
    "measure_calibration": "calibration",
    "measure_cold_start": "cold start",
    "measure_pruning": "prune curve",
    "measure_trees": "tree curve",
    "describe_embedding": "embedding",
    "trace_labels": "trace",
    "write_report": "report",
}
"""Short names of the workflow's rules."""

NO_STAGE = "all"
"""The rule that only collects files."""


def title_of(rule):
    """Short name of a stage.

    Parameters
    ----------
    rule : str
        Of this workflow, also under a prefix, or of another one.

    Returns
    -------
    str
    """
    for name, title in TITLES.items():
        if rule == name or rule.endswith(f"_{name}"):
            return title
    return rule.replace("_", " ")


def place_of(wildcards):
    """What a job is about.

    Parameters
    ----------
    wildcards : mapping of str to str

    Returns
    -------
    str
        Such as ``"docstrings/msi"``; empty for what serves all.
    """
    return "/".join(wildcards[key] for key in ("dataset", "name", "run", "embedding") if key in wildcards)


REMARK = "remark: "
"""How lines of a log begin that a person should see."""


@dataclass
class Job:
    """A job that runs."""

    shard: str | None
    log: JobLog
    outputs: list
    path: str | None


@dataclass
class Stage:
    """The jobs of one rule for one dataset and run."""

    title: str
    place: str
    jobs: int
    shards: set = field(default_factory=set)
    started: float | None = None
    seconds: float | None = None
    finished: int = 0
    running: dict = field(default_factory=dict)
    labels_done: int = 0
    work_done: float = 0.0
    plan: dict = field(default_factory=dict)
    summary: str = ""
    remarks: list = field(default_factory=list)

    @property
    def done(self):
        """Whether all jobs are finished."""
        return self.finished >= self.jobs

    @property
    def elapsed(self):
        """Seconds since the first job began."""
        if self.started is None:
            return 0.0
        return time.monotonic() - self.started if self.seconds is None else self.seconds

    def detail(self):
        """How far it is.

        Returns
        -------
        str
        """
        for job in list(self.running.values()):
            job.log.read()
        if self.jobs == 1:
            return self.summary if self.done else self._of_one_job()
        parts = [f"{self.finished:,}/{self.jobs:,} {'shards' if self.shards else 'jobs'}"]
        labels, total = self._labels()
        if labels and total:
            parts.append(f"{labels:,} of {total:,} labels" if labels < total else f"{total:,} labels")
        left = self._left()
        return ", ".join(parts + ([f"about {clock(left)} left"] if left is not None else []))

    def _of_one_job(self):
        job = next(iter(self.running.values()), None)
        return "" if job is None else _without_paths(job.log.last(), job.outputs)

    def _labels(self):
        """Labels solved, and labels to solve; (0, 0) where no plan tells."""
        total = sum(labels for labels, _ in self._parts().values())
        progress = [progress_of(job.log.last()) for job in list(self.running.values())]
        return self.labels_done + sum(each.done for each in progress if each is not None and each.total), total

    def _parts(self):
        return {shard: self.plan[shard] for shard in self.shards if shard in self.plan}

    def _left(self):
        """Seconds, from the share of the work that is done; None where it is too early to tell."""
        if self.done:
            return None
        parts = self._parts()
        whole = sum(work for _, work in parts.values()) or float(self.jobs)
        share = (self.work_done if parts else float(self.finished)) / whole
        for job in list(self.running.values()):
            progress = progress_of(job.log.last())
            weight = parts[job.shard][1] if job.shard in parts else 1.0
            share += weight / whole * (0 if progress is None else progress.share)
        return self.elapsed * (1 - share) / share if share > 0.01 else None

    def start(self, jobid, job):
        """A job begins."""
        if self.started is None:
            self.started = time.monotonic()
        self.running[jobid] = job
        if job.path is not None and not self.plan:
            self.plan = work_of_shards(job.path)

    def finish(self, jobid):
        """A job is done."""
        job = self.running.pop(jobid)
        job.log.read()
        self.finished += 1
        labels, work = self.plan.get(job.shard, (0, 0.0))
        self.labels_done += labels
        self.work_done += work
        self.remarks += [line for line in job.log.lines if line.startswith(REMARK)]
        said = [line for line in job.log.lines if not line.startswith(REMARK)]
        summary = _without_paths(said[-1].strip() if said else "", job.outputs)
        self.summary = "" if summary == self.title else summary
        if self.done:
            self.seconds = time.monotonic() - self.started


class Stages:
    """All stages of a run."""

    def __init__(self):
        self._by_rule, self._by_place, self._of_job = {}, {}, {}
        self._expected = 0
        self._began = time.monotonic()
        self.failed = 0

    @property
    def begun(self):
        """Whether Snakemake has said what is to be done."""
        return bool(self._expected)

    @property
    def elapsed(self):
        """Seconds of the whole run."""
        return time.monotonic() - self._began

    @property
    def counts(self):
        """Jobs that are done, and all."""
        return sum(stage.finished for stage in self.all()), self._expected

    def all(self):
        """Stages in the order of the pipeline."""
        return [stage for stage in [*self._by_place.values(), *self._by_rule.values()] if stage.jobs]

    def running(self):
        """Stages that have begun and are not done.

        Returns
        -------
        list of Stage
        """
        return [stage for stage in self.all() if stage.running or (stage.started is not None and not stage.done)]

    def width(self):
        """Characters of the longest place."""
        return max((len(stage.place) for stage in self.all()), default=0)

    def expect(self, stats):
        """Take the number of jobs of each rule.

        Parameters
        ----------
        stats : dict of str to int
        """
        counts = {rule: jobs for rule, jobs in stats.items() if rule not in ("total", NO_STAGE)}
        self._expected = sum(counts.values())
        for rule, jobs in counts.items():
            self._by_rule.setdefault(rule, Stage(title_of(rule), "", jobs))

    def expect_places(self, jobs):
        """Take the jobs of each dataset and run, where the workflow tells.

        Parameters
        ----------
        jobs : list of (str, dict)
            Rule and wildcards of each job.
        """
        for rule, wildcards in jobs:
            if rule not in self._by_rule:
                continue
            key = rule, place_of(wildcards)
            stage = self._by_place.setdefault(key, Stage(title_of(rule), key[1], 0))
            stage.jobs += 1
            stage.shards |= {wildcards["shard"]} if "shard" in wildcards else set()
            self._by_rule[rule].jobs -= 1

    def start(self, record):
        """A job begins.

        Parameters
        ----------
        record : logging.LogRecord
            Of a job's information.
        """
        if record.rule_name == NO_STAGE:
            return
        wildcards = dict(record.wildcards)
        stage = self._by_place.get((record.rule_name, place_of(wildcards))) or self._by_rule.get(record.rule_name)
        if stage is None:
            return
        plan = next((path for path in record.input if str(path).endswith("/shards.tsv")), None)
        log = JobLog(record.log[0] if record.log else None)
        stage.start(record.jobid, Job(wildcards.get("shard"), log, list(record.output), plan))
        self._of_job[record.jobid] = stage

    def finish(self, jobid):
        """A job is done.

        Parameters
        ----------
        jobid : int
        """
        stage = self._of_job.get(jobid)
        if stage is not None and jobid in stage.running:
            stage.finish(jobid)

    def fail(self, jobid):
        """A job has failed.

        Parameters
        ----------
        jobid : int

        Returns
        -------
        (Stage, Job) or None
        """
        stage = self._of_job.get(jobid)
        job = None if stage is None else stage.running.pop(jobid, None)
        if job is None:
            return None
        self.failed += 1
        return stage, job


def _without_paths(line, outputs):
    """A line of a log without the names of files that the job makes."""
    for path in map(str, outputs):
        line = line.removeprefix(f"{path}: ").removesuffix(f": {path}")
    return line
