"""Memory that jobs request, compared with the arrays that they hold."""

from ovaflow.estimate import demand
from ovaflow.model import index


def test_reading_a_compressed_file_takes_a_multiple_of_it() -> None:
    assert demand.reading_memory_mb(["a.csv"], 1000) == 550 + 2000
    assert demand.reading_memory_mb(["a.csv", "b.csv.zst"], 1000) == 550 + 5000


def test_merging_holds_a_panel_of_an_index() -> None:
    assert demand.INDEX_PANEL_LABELS == index.INDEX_PANEL_LABELS
    few = demand.merging_memory_mb(demand.INDEX_PANEL_LABELS, 1000)
    many = demand.merging_memory_mb(10 * demand.INDEX_PANEL_LABELS, 1000)
    assert few - 650 > 0.4 * 1000 > many - 650 - 200


def test_reranking_holds_scores_two_datasets_and_suggestions() -> None:
    memory = demand.reranking_memory_mb(datasets=5 + 3, predictions=10, suggestions=4)
    assert memory - demand.reranking_memory_mb(0, 0) >= 10 + 5 + 3 + 4
