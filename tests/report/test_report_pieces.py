"""Wording, tables, figures, published results and resources."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.console.errors import InputError
from ovaflow.machine.topology import processor
from ovaflow.report import figures, page, wording
from ovaflow.report.machine import describe_machine, describe_software
from ovaflow.report.power_law import fit_power_law
from ovaflow.report.published import read_published, results_for
from ovaflow.report.quality import metric_columns
from ovaflow.report.resources import find_benchmarks, read_resources, step_of
from ovaflow.report.tables import Cell, mark_best

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


@pytest.mark.parametrize(
    ("words", "number", "text"),
    [
        (wording.count, 35116, "35,116"),
        (wording.count, None, "–"),
        (wording.percent, 0.62624, "62.62"),
        (wording.percent, float("nan"), "–"),
        (wording.decimal, 0, "0"),
        (wording.decimal, 0.0431, "0.043"),
        (wording.decimal, 5.314, "5.31"),
        (wording.decimal, 1240.4, "1,240"),
        (wording.decimal, 0.0000123, "1.2e-05"),
        (wording.size, 640, "640 B"),
        (wording.size, 1400 << 10, "1.37 MiB"),
        (wording.size, 24 << 30, "24.0 GiB"),
        (wording.duration, 0.0123, "12.3 ms"),
        (wording.duration, 4.21, "4.21 s"),
        (wording.duration, 123, "2 min 03 s"),
        (wording.duration, 2546, "42 min 26 s"),
        (wording.duration, 12000, "3 h 20 min"),
    ],
)
def test_numbers_in_words(words, number, text):
    assert words(number) == text


@given(st.text(), st.integers(5, 50))
def test_plain_texts_are_short_and_harmless(text, limit):
    shown = wording.plain(text, limit)
    assert len(shown) <= limit
    assert not set(shown) & set("\x00\r\n\t\x1b\u202e\u2066")
    shown.encode("utf-8")


def test_best_is_marked_by_what_is_shown():
    cells = [Cell("62.62", 0.62621), Cell("62.62", 0.62624), Cell("61.00", 0.61), Cell("–")]
    assert [cell.best for cell in mark_best(cells)] == [True, True, False, False]
    assert [cell.best for cell in mark_best(cells, lowest=True)] == [False, False, True, False]
    assert not any(cell.best for cell in mark_best(cells[:2]))
    assert not any(cell.best for cell in mark_best(cells[2:]))


def test_metric_columns_in_order():
    metrics = [{"P@5": 0, "recall@1": 0, "P@10": 0, "macro-F1@5": 0, "instances": 3}, {"nDCG@1": 0}]
    names = [name for name, _, _ in metric_columns(metrics, ("P", "nDCG", "recall"))]
    assert names == ["P@5", "P@10", "nDCG@1", "recall@1"]
    assert [name for name, _, _ in metric_columns(metrics, None)] == ["macro-F1@5"]


@pytest.mark.parametrize("counts", [[], [0], [1], [3, 3], [5, 5, 5, 5], [1, 2, 3], [1] * 50])
def test_any_label_counts_can_be_drawn(counts):
    svg = figures.rank_frequency("name", np.array(counts, np.int64))
    assert svg == figures.rank_frequency("name", np.array(counts, np.int64), fit_power_law(np.array(counts, np.int64)))
    assert "#0000" not in svg.svg
    assert "http" not in svg.svg


def test_published_results(tmp_path):
    path = tmp_path / "published.tsv"
    path.write_text(
        "dataset\tmethod\tP@1\tP@3\tP@5\tsource\tnote\n"
        "bibtex\tA\t62.62\t39.09\t28.79\tpage\t\n"
        'bibtex\tB\t90.3\t\t\t"table 2\tk = 50\n'
        "other\tC\t1\t2\t3\tx\n"
    )
    entries = results_for(read_published(path), "Bibtex")
    assert [entry.method for entry in entries] == ["B", "A"]
    assert entries[0].metrics == {"P@1": pytest.approx(0.903)}
    assert (entries[0].source, entries[0].note) == ('"table 2', "k = 50")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("name\tvalue\n", "line 1"),
        ("dataset\tmethod\tP@1\tP@3\tP@5\tsource\tnote\na\tb\tx\t\t\t\t\n", "line 2"),
        ("dataset\tmethod\tP@1\tP@3\tP@5\tsource\tnote\na\tb\t1\t2\t3\t4\t5\t6\n", "line 2"),
        ("", "line 1"),
    ],
)
def test_published_results_that_do_not_fit(tmp_path, text, where):
    (tmp_path / "published.tsv").write_text(text)
    with pytest.raises(InputError, match=where):
        read_published(tmp_path / "published.tsv")


def test_published_results_missing(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_published(tmp_path / "published.tsv")


def _write_benchmark(path, seconds, memory="300.0", cpu="1.5"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + f"{seconds}\t0:00:01\t{memory}\t-\t-\t-\t1.0\tNA\t99\t{cpu}\n")


@pytest.mark.parametrize("given_folder", [False, True])
def test_resources_of_each_step(tmp_path, given_folder):
    run = tmp_path / "results" / "mine" / "msi"
    base = tmp_path / "elsewhere" if given_folder else None
    shared = (base / "mine") if given_folder else run.parent / "benchmarks"
    own = (base / "mine" / "msi") if given_folder else run / "benchmarks"
    _write_benchmark(shared / "means.tsv", 0.5, memory="-", cpu="NA")
    for shard in range(3):
        _write_benchmark(own / "train_shard" / f"{shard}.tsv", 2 + shard, memory=f"{100 + shard}")
    (own / "shards.tsv").write_text("shard\tlabel\twork\n0\t1\t5\n")
    means, shards = read_resources(find_benchmarks([run], base))
    assert (means.step, means.run, means.jobs, means.max_rss_bytes, means.cpu_seconds) == ("means", "", 1, None, None)
    assert (shards.step, shards.run, shards.jobs, shards.wall_seconds) == ("train shard", "msi", 3, 9.0)
    assert (shards.longest_seconds, shards.cpu_seconds, shards.max_rss_bytes) == (4.0, 4.5, 102 << 20)
    assert (shards.read_bytes, shards.written_bytes) == (3 << 20, None)


def test_names_of_steps(tmp_path):
    names = ["train_shard.12.tsv", "train_shard_3.tsv", "train-shard/7.tsv", "label_tree.tsv"]
    assert [step_of(tmp_path / name) for name in names] == ["train shard"] * 3 + ["label tree"]


def test_machine_and_software(tmp_path):
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: A CPU\nmodel name\t: A CPU\n")
    assert processor(tmp_path / "cpuinfo") == "A CPU"
    assert processor(tmp_path / "none")
    assert [name for name, _ in describe_machine()] == ["processor", "cores", "NUMA nodes", "memory", "system"]
    assert {"ovaflow", "Python", "numba"} <= {name for name, _ in describe_software()}


def test_template_changes_change_the_fingerprint(tmp_path):
    templates = Path(page.__file__).parent / "templates"
    script = (
        "from ovaflow.fingerprint import code_fingerprint as f; print(f('ovaflow.cli.report'), f('ovaflow.cli.merge'))"
    )
    shutil.copytree(templates.parents[1], tmp_path / "ovaflow", ignore=shutil.ignore_patterns("__pycache__"))

    def fingerprints():
        return subprocess.run(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env={"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            check=True,
        ).stdout.split()

    before = fingerprints()
    with open(tmp_path / "ovaflow" / "report" / "templates" / "style.css", "a") as file:
        file.write("\n")
    after = fingerprints()
    assert before[0] != after[0]
    assert before[1] == after[1]
