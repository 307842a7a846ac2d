"""Metrics of ranked labels.

Each metric is one entry of a list, from which files, tables and pages follow.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ovaflow.evaluation import ranking
from ovaflow.evaluation.ranking import InstanceSums, Ranked, ratio

CUTOFFS = (1, 3, 5)
"""Cut-offs k of metrics, in addition to the number of predicted labels."""

ORDER_SCOPE = "order"
CANDIDATES_SCOPE = "candidates"
ANSWER_SCOPE = "answer"

ANSWER_KINDS = ("fit", "above-0")
"""Endings of the names of an answer's metrics.

The labels of an answer are those that fit, or those with scores above 0.
"""


@dataclass(frozen=True)
class Metric:
    """A measure of the quality of ranked labels.

    Parameters
    ----------
    name : str
        Name without ``@k``, ``-fit`` and the like.
    sentence : str
        Explanation for people.
    formula : str
        The same in the notation of the reference page.
    per_instance, overall : callable, optional
        One of them, a function of :class:`ovaflow.evaluation.ranking.Ranked` and k: it returns what
        each instance adds to two sums whose ratio is the metric, two arrays (n,), so that the
        metric has intervals; or the metric itself.
    scope : {"order", "candidates", "answer"}
        Measures the first k labels, all candidates, or the labels of an answer.
    unit : {"fraction", "labels"}
        Fractions are in [0, 1].
    larger_is_better : bool or None
        None where neither is better.
    by_propensity : bool
        Whether it needs the propensities of labels.
    report_names : tuple of str
        Names under which it is in the tables that a report begins with.
    list_names : tuple of str
        Names under which it is in lists of runs.
    card_names : tuple of str
        Names under which it is in model cards, in addition to ``report_names``.
    hub : str
        Name of the metric on hubs of models.
    """

    name: str
    sentence: str
    formula: str = ""
    per_instance: Callable[[Ranked, int], InstanceSums] | None = None
    overall: Callable[[Ranked, int], float] | None = None
    scope: str = ORDER_SCOPE
    unit: str = "fraction"
    larger_is_better: bool | None = True
    by_propensity: bool = False
    report_names: tuple[str, ...] = ()
    list_names: tuple[str, ...] = ()
    card_names: tuple[str, ...] = ()
    hub: str = ""

    def value(self, ranked: Ranked, k: int = 0) -> float:
        """Compute the metric of ranked labels."""
        if self.per_instance is not None:
            gains, best = self.per_instance(ranked, k)
            return ratio(gains.sum(), best.sum())
        assert self.overall is not None
        return self.overall(ranked, k)

    @property
    def title(self) -> str:
        """Name of the metric without a certain cut-off or kind of answer."""
        if self.scope == ORDER_SCOPE:
            return f"{self.name}@k"
        if self.scope == ANSWER_SCOPE:
            return f"{self.name} fit"
        return self.name


METRICS = [
    Metric(
        "P",
        "share of true labels among the k labels predicted for an instance",
        r"\frac{1}{nk} \sum_i \sum_{r \le k} h_{ir}",
        ranking.precision,
        report_names=("P@1", "P@3", "P@5"),
        list_names=("P@1", "P@5"),
        hub="precision",
    ),
    Metric(
        "nDCG",
        "like P@k, but a hit counts more the higher it ranks; 1 is the best possible order",
        r"\frac{1}{n'} \sum_i \frac{\sum_{r \le k} h_{ir} / \log_2(r+1)}"
        r"{\sum_{r \le \min(k, \lvert Y_i \rvert)} 1 / \log_2(r+1)}",
        ranking.ndcg,
        report_names=("nDCG@5",),
        hub="ndcg",
    ),
    Metric(
        "recall",
        "share of an instance’s true labels that are among the first k predictions",
        r"\frac{1}{n'} \sum_i \frac{1}{\lvert Y_i \rvert} \sum_{r \le k} h_{ir}",
        ranking.recall,
        card_names=("recall@5",),
        hub="recall",
    ),
    Metric(
        "PSP",
        "like P@k, but a hit on a rare label counts more (inverse propensity), relative to the "
        "best achievable",
        r"\frac{\sum_i \sum_{r \le k} h_{ir} / p_{\hat y_{ir}}}"
        r"{\sum_i \max_{S \subseteq Y_i, \lvert S \rvert \le k} \sum_{j \in S} 1 / p_j}",
        ranking.propensity_scored_precision,
        by_propensity=True,
        report_names=("PSP@5",),
        hub="precision",
    ),
    Metric(
        "PSnDCG",
        "like PSP@k, each term divided by log2(r + 1) and by the instance’s best DCG@k",
        overall=ranking.propensity_scored_ndcg,
        by_propensity=True,
    ),
    Metric(
        "coverage",
        "share of the labels in the test set that are hit at least once",
        overall=ranking.coverage,
    ),
    Metric(
        "macro-F1",
        "harmonic mean of precision and recall of each label, mean over labels: all count alike",
        r"\frac{1}{l'} \sum_j \frac{2 t_j}{q_j + m_j}",
        overall=ranking.macro_f1,
        card_names=("macro-F1@5",),
        hub="f1",
    ),
    Metric(
        "micro-F1",
        "harmonic mean of precision and recall over all (instance, label) pairs",
        r"\frac{2 \sum_j t_j}{\sum_j (q_j + m_j)}",
        overall=ranking.micro_f1,
    ),
    Metric(
        "LRAP",
        "label ranking average precision: of each true label among the candidates the share of "
        "true labels down to it, "
        "mean over the labels of an instance, then over instances",
        r"\frac{1}{n''} \sum_i \frac{1}{\sum_r h_{ir}} "
        r"\sum_r h_{ir} \frac{\sum_{s \le r} h_{is}}{r}",
        ranking.label_ranking_average_precision,
        scope=CANDIDATES_SCOPE,
    ),
    Metric(
        "coverage-error",
        "how many candidates one reads until all true labels among them are seen, mean over "
        "instances",
        r"\frac{1}{n''} \sum_i \max \{ r : h_{ir} = 1 \}",
        ranking.coverage_error,
        scope=CANDIDATES_SCOPE,
        unit="labels",
        larger_is_better=False,
    ),
    Metric(
        "P",
        "share of right labels in an answer, mean over instances; an empty answer has 0",
        per_instance=ranking.make_answer_metric("P"),
        scope=ANSWER_SCOPE,
    ),
    Metric(
        "R",
        "share of an instance’s true labels in an answer, mean over instances",
        per_instance=ranking.make_answer_metric("R"),
        scope=ANSWER_SCOPE,
    ),
    Metric(
        "F1",
        "harmonic mean of precision and recall of the labels of an answer, mean over instances",
        per_instance=ranking.make_answer_metric("F1"),
        scope=ANSWER_SCOPE,
        report_names=("F1-fit",),
        list_names=("F1-fit", "F1-above-0"),
        hub="f1",
    ),
    Metric(
        "labels",
        "number of labels of an answer, mean over instances",
        per_instance=ranking.make_answer_metric("labels"),
        scope=ANSWER_SCOPE,
        unit="labels",
        larger_is_better=None,
    ),
]
"""In the order of files and tables."""


class NamedMetric(NamedTuple):
    """A metric with its name in files."""

    name: str  # with its cut-off or the kind of answer, such as ``P@5``
    metric: Metric
    k: int  # 0 where it has no cut-off


_NAME = re.compile(
    rf"(?P<order>.+)@(?P<k>\d+)|(?P<answer>.+)-({'|'.join(ANSWER_KINDS)})|(?P<plain>.+)"
)
"""Names of the metrics of each scope."""


def find_metric(name: str) -> tuple[Metric, int] | None:
    """Find the metric of a name such as ``P@5`` or ``F1-fit``, and its cut-off, 0 for none.

    Returns None for the names of other numbers.
    """
    parts = _NAME.fullmatch(name)
    if parts is None:
        return None
    k = 0
    if parts["order"]:
        wanted = (ORDER_SCOPE, parts["order"])
        k = int(parts["k"])
    elif parts["answer"]:
        wanted = (ANSWER_SCOPE, parts["answer"])
    else:
        wanted = (CANDIDATES_SCOPE, parts["plain"])
    for metric in METRICS:
        if (metric.scope, metric.name) == wanted:
            return metric, k
    return None


def get_metric(name: str) -> tuple[Metric, int]:
    """Get the metric of a name and its cut-off, see :func:`find_metric`.

    Raises
    ------
    KeyError
        There is no such metric.
    """
    found = find_metric(name)
    if found is None:
        raise KeyError(name)
    return found


def compute_metric(name: str, ranked: Ranked) -> float:
    """Compute the metric of a name for ranked labels."""
    metric, k = get_metric(name)
    return metric.value(ranked, k)


def compute_instance_scores(name: str, ranked: Ranked) -> np.ndarray:
    """Compute what instances add to a metric: float64 (n,), whose mean is the metric."""
    metric, k = get_metric(name)
    assert metric.per_instance is not None
    gains, best = metric.per_instance(ranked, k)
    return gains / (best.mean() or 1)


def is_metric(name: str) -> bool:
    """Tell whether a number of metrics.json is a metric of quality, not a time or size."""
    return find_metric(name) is not None


def report_metric_names() -> list[str]:
    """List the names of the metrics that a report begins with."""
    names: list[str] = []
    for metric in METRICS:
        names += metric.report_names
    return names


def run_list_metric_names() -> list[str]:
    """List the names of the metrics in lists of runs."""
    names: list[str] = []
    for metric in METRICS:
        names += metric.list_names
    return names


def model_card_metric_names() -> list[str]:
    """List the names of the metrics in model cards."""
    names: list[str] = []
    for metric in METRICS:
        names += metric.report_names
        names += metric.card_names
    return names


def find_cutoffs(most: int) -> list[int]:
    """Find the cut-offs 1, 3 and 5 that are at most the number of labels."""
    return [k for k in CUTOFFS if k <= most]


def find_default_cutoffs(ranked: Ranked) -> list[int]:
    """Find the cut-offs 1, 3 and 5 up to the number K of predicted labels, and K itself.

    K is left out where all labels are predicted.
    """
    cutoffs = set(find_cutoffs(ranked.max_predicted))
    n_predicted = ranked.ids.shape[1]
    if n_predicted < ranked.Y.n_columns:
        cutoffs.add(n_predicted)
    return sorted(cutoffs)


def list_order_metrics(ranked: Ranked, cutoffs: Iterable[int] | None = None) -> list[NamedMetric]:
    """List the metrics of the order of labels at some cut-offs."""
    chosen = find_default_cutoffs(ranked) if cutoffs is None else list(cutoffs)
    metrics = []
    for metric in METRICS:
        if metric.scope == ORDER_SCOPE:
            metrics += [NamedMetric(f"{metric.name}@{k}", metric, k) for k in chosen]
    return metrics


def list_candidate_metrics() -> list[NamedMetric]:
    """List the metrics of candidates."""
    return [
        NamedMetric(metric.name, metric, 0)
        for metric in METRICS
        if metric.scope == CANDIDATES_SCOPE
    ]


def list_answer_metrics(kind: str) -> list[NamedMetric]:
    """List the metrics of answers of a kind, see :data:`ANSWER_KINDS`."""
    return [
        NamedMetric(f"{metric.name}-{kind}", metric, 0)
        for metric in METRICS
        if metric.scope == ANSWER_SCOPE
    ]


def list_labelled_file_metrics(ranked: Ranked) -> list[NamedMetric]:
    """List the metrics of a labelled file.

    They are those with intervals that a report begins with, and those of candidates.
    """
    cutoffs = find_cutoffs(ranked.max_predicted)
    shown = []
    for named in [*list_order_metrics(ranked, cutoffs), *list_candidate_metrics()]:
        metric = named.metric
        is_shown = metric.scope == CANDIDATES_SCOPE or named.name in metric.report_names
        if is_shown and metric.per_instance is not None and not metric.by_propensity:
            shown.append(named)
    return shown


def format_at_cutoffs(metrics: Mapping[str, float], name: str) -> str:
    """Format a metric in percent at all cut-offs that it has: ``P@1/3/5 82.5/69.6/55.5``."""
    cutoffs = [k for k in CUTOFFS if f"{name}@{k}" in metrics]
    values = "/".join(f"{100 * metrics[f'{name}@{k}']:.1f}" for k in cutoffs)
    return f"{name}@{'/'.join(str(k) for k in cutoffs)} {values}"
