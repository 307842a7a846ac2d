"""What is measured of ranked labels: each metric is one entry, and files, tables and pages follow
from the list.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ovaflow.evaluation import ranking
from ovaflow.evaluation.ranking import Ranked, ratio

CUTOFFS = (1, 3, 5)
"""Places k at which metrics are taken, besides the number of predicted labels."""

ORDER = "order"
CANDIDATES = "candidates"
ANSWER = "answer"

ANSWER_KINDS = ("fit", "above-0")
"""How the names of an answer's metrics end: its labels are those that fit, or those with scores
above 0.
"""


@dataclass(frozen=True)
class Metric:
    """A figure of how good ranked labels are.

    Parameters
    ----------
    name : str
        Before ``@k``, or ``-fit`` and the like, where it has such an end.
    sentence : str
        What it is, for people.
    formula : str
        The same in the notation of the reference page.
    each, whole : callable, optional
        One of them, a function of :class:`ovaflow.evaluation.ranking.Ranked` and k: what each
        instance adds to two sums whose ratio is the metric, two arrays (n,), so that it has
        intervals; or the metric itself.
    of : {"order", "candidates", "answer"}
        Of the first k labels, of all candidates, or of the labels of an answer.
    unit : {"fraction", "labels"}
        Fractions are in [0, 1].
    larger_is_better : bool or None
        None where neither is.
    by_propensity : bool
        Whether it needs the propensities of labels.
    first : tuple of str
        Names under which it is in the tables that a report begins with.
    brief, card : tuple of str
        The same for lists of runs, and for model cards besides these.
    hub : str
        What hubs of models call it.
    """

    name: str
    sentence: str
    formula: str = ""
    each: Callable[[Ranked, int], tuple[np.ndarray, np.ndarray]] | None = None
    whole: Callable[[Ranked, int], float] | None = None
    of: str = ORDER
    unit: str = "fraction"
    larger_is_better: bool | None = True
    by_propensity: bool = False
    first: tuple[str, ...] = ()
    run_list_names: tuple[str, ...] = ()
    card: tuple[str, ...] = ()
    hub: str = ""

    def value(self, ranked: Ranked, k: int = 0) -> float:
        """The metric of ranked labels."""
        if self.each is not None:
            gains, best = self.each(ranked, k)
            return ratio(gains.sum(), best.sum())
        assert self.whole is not None
        return self.whole(ranked, k)

    @property
    def title(self) -> str:
        """Its name where no place or answer is meant."""
        return {ORDER: f"{self.name}@k", ANSWER: f"{self.name} fit"}.get(self.of, self.name)


METRICS = [
    Metric(
        "P",
        "share of true labels among the k labels predicted for an instance",
        r"\frac{1}{nk} \sum_i \sum_{r \le k} h_{ir}",
        ranking.precision,
        first=("P@1", "P@3", "P@5"),
        run_list_names=("P@1", "P@5"),
        hub="precision",
    ),
    Metric(
        "nDCG",
        "like P@k, but a hit counts more the higher it ranks; 1 is the best possible order",
        r"\frac{1}{n'} \sum_i \frac{\sum_{r \le k} h_{ir} / \log_2(r+1)}"
        r"{\sum_{r \le \min(k, \lvert Y_i \rvert)} 1 / \log_2(r+1)}",
        ranking.ndcg,
        first=("nDCG@5",),
        hub="ndcg",
    ),
    Metric(
        "recall",
        "share of an instance’s true labels that are among the first k predictions",
        r"\frac{1}{n'} \sum_i \frac{1}{\lvert Y_i \rvert} \sum_{r \le k} h_{ir}",
        ranking.recall,
        card=("recall@5",),
        hub="recall",
    ),
    Metric(
        "PSP",
        "like P@k, but a hit on a rare label counts more (inverse propensity), relative to the best achievable",
        r"\frac{\sum_i \sum_{r \le k} h_{ir} / p_{\hat y_{ir}}}"
        r"{\sum_i \max_{S \subseteq Y_i, \lvert S \rvert \le k} \sum_{j \in S} 1 / p_j}",
        ranking.propensity_scored_precision,
        by_propensity=True,
        first=("PSP@5",),
        hub="precision",
    ),
    Metric(
        "PSnDCG",
        "like PSP@k, each term divided by log2(r + 1) and by the instance’s best DCG@k",
        whole=ranking.propensity_scored_ndcg,
        by_propensity=True,
    ),
    Metric(
        "coverage",
        "share of the labels in the test set that are hit at least once",
        whole=ranking.coverage,
    ),
    Metric(
        "macro-F1",
        "harmonic mean of precision and recall of each label, mean over labels: all count alike",
        r"\frac{1}{l'} \sum_j \frac{2 t_j}{q_j + m_j}",
        whole=ranking.macro_f1,
        card=("macro-F1@5",),
        hub="f1",
    ),
    Metric(
        "micro-F1",
        "harmonic mean of precision and recall over all (instance, label) pairs",
        r"\frac{2 \sum_j t_j}{\sum_j (q_j + m_j)}",
        whole=ranking.micro_f1,
    ),
    Metric(
        "LRAP",
        "label ranking average precision: of each true label among the candidates the share of true labels down to it, "
        "mean over the labels of an instance, then over instances",
        r"\frac{1}{n''} \sum_i \frac{1}{\sum_r h_{ir}} \sum_r h_{ir} \frac{\sum_{s \le r} h_{is}}{r}",
        ranking.label_ranking_average_precision,
        of=CANDIDATES,
    ),
    Metric(
        "coverage-error",
        "how many candidates one reads until all true labels among them are seen, mean over instances",
        r"\frac{1}{n''} \sum_i \max \{ r : h_{ir} = 1 \}",
        ranking.coverage_error,
        of=CANDIDATES,
        unit="labels",
        larger_is_better=False,
    ),
    Metric(
        "P",
        "share of right labels in an answer, mean over instances; an empty answer has 0",
        each=ranking.make_answer_metric("P"),
        of=ANSWER,
    ),
    Metric(
        "R",
        "share of an instance’s true labels in an answer, mean over instances",
        each=ranking.make_answer_metric("R"),
        of=ANSWER,
    ),
    Metric(
        "F1",
        "harmonic mean of precision and recall of the labels of an answer, mean over instances",
        each=ranking.make_answer_metric("F1"),
        of=ANSWER,
        first=("F1-fit",),
        run_list_names=("F1-fit", "F1-above-0"),
        hub="f1",
    ),
    Metric(
        "labels",
        "number of labels of an answer, mean over instances",
        each=ranking.make_answer_metric("labels"),
        of=ANSWER,
        unit="labels",
        larger_is_better=None,
    ),
]
"""In the order of files and tables."""


class NamedMetric(NamedTuple):
    """A metric as files have it."""

    name: str  # with its place or the kind of answer, such as ``P@5``
    metric: Metric
    k: int  # 0 where it has no place


def find_metric(name: str) -> tuple[Metric, int] | None:
    """The metric of a name such as ``P@5`` or ``F1-fit``, and its place, 0 for none; None for other
    figures.
    """
    found = re.fullmatch(rf"(.+)@(\d+)|(.+)-({'|'.join(ANSWER_KINDS)})|(.+)", name)
    if found is None:
        return None
    at_k, place, of_answer, _, plain = found.groups()
    wanted = (ORDER, at_k) if at_k else (ANSWER, of_answer) if of_answer else (CANDIDATES, plain)
    metric = next((each for each in METRICS if (each.of, each.name) == wanted), None)
    return None if metric is None else (metric, int(place or 0))


def get_metric(name: str) -> tuple[Metric, int]:
    """As :func:`find_metric`, of a name that there is."""
    found = find_metric(name)
    if found is None:
        raise KeyError(name)
    return found


def compute_metric(name: str, ranked: Ranked) -> float:
    """The metric of a name, of ranked labels."""
    metric, k = get_metric(name)
    return metric.value(ranked, k)


def compute_instance_scores(name: str, ranked: Ranked) -> np.ndarray:
    """What each instance has of a metric, float64 (n,); their mean is the metric."""
    metric, k = get_metric(name)
    assert metric.each is not None
    gains, best = metric.each(ranked, k)
    return gains / (best.mean() or 1)


def is_metric(name: str) -> bool:
    """Whether a figure is a metric of quality, no time or size."""
    return find_metric(name) is not None


def report_metric_names() -> list[str]:
    """Names of the metrics that a report begins with."""
    return [name for metric in METRICS for name in metric.first]


def run_list_metric_names() -> list[str]:
    """Names of the metrics that lists of runs have."""
    return [name for metric in METRICS for name in metric.run_list_names]


def model_card_metric_names() -> list[str]:
    """Names of the metrics that model cards have."""
    return [name for metric in METRICS for name in (*metric.first, *metric.card)]


def find_cutoffs(most: int) -> list[int]:
    """1, 3 and 5, as far as there are so many labels."""
    return [k for k in CUTOFFS if k <= most]


def find_default_cutoffs(ranked: Ranked) -> list[int]:
    """1, 3, 5 and the number of predicted labels, as far as there are so many, and these are not
    all labels.
    """
    predicted = ranked.ids.shape[1]
    further = [predicted] if predicted < ranked.Y.n_columns else []
    return sorted({*find_cutoffs(ranked.most), *further})


def list_order_metrics(ranked: Ranked, places: Iterable[int] | None = None) -> list[NamedMetric]:
    """The metrics of the order of labels at some places, with their names and places."""
    chosen = find_default_cutoffs(ranked) if places is None else places
    return [
        NamedMetric(f"{metric.name}@{k}", metric, k)
        for metric in METRICS
        if metric.of == ORDER
        for k in chosen
    ]


def list_candidate_metrics() -> list[NamedMetric]:
    """The metrics of candidates."""
    return [NamedMetric(metric.name, metric, 0) for metric in METRICS if metric.of == CANDIDATES]


def list_answer_metrics(kind: str) -> list[NamedMetric]:
    """The metrics of answers of a kind, see :data:`ANSWERS`."""
    return [
        NamedMetric(f"{metric.name}-{kind}", metric, 0) for metric in METRICS if metric.of == ANSWER
    ]


def list_labelled_file_metrics(ranked: Ranked) -> list[NamedMetric]:
    """The metrics of a labelled file: those that a report begins with and those of candidates, with
    intervals.
    """
    chosen = [*list_order_metrics(ranked, find_cutoffs(ranked.most)), *list_candidate_metrics()]
    shown = []
    for named in chosen:
        metric = named.metric
        has_place = metric.of == CANDIDATES or named.name in metric.first
        if has_place and metric.each is not None and not metric.by_propensity:
            shown.append(named)
    return shown
