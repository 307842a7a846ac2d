"""The page: valid, self-contained, safe against hostile names, and with the right figures."""

import base64
import csv
import hashlib
import html.parser
import io
import json
import re
import tomllib
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from commands import ovaflow
from synthetic import write_weights

from ovaflow.dataset.dataset import Split, open_dataset, write_dataset
from ovaflow.prediction.predictions import Predictions
from ovaflow.report.environment import breakable
from ovaflow.report.gather import gather_results, make_anchors
from ovaflow.report.page import render_page
from ovaflow.settings.predict import Report
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage.texts import write_json

VOID = {"meta", "link", "br", "wbr", "img", "hr", "input"}
ALL_EXAMPLES = Report(examples=200)
"""More examples than there are documents."""


class PageReader(html.parser.HTMLParser):
    """A reader that checks the nesting of tags, and keeps tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open_tags: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open_tags

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.append((tag, name, value))
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open_tags.pop()

    def handle_endtag(self, tag) -> None:
        assert self.open_tags.pop() == tag

    def handle_data(self, data) -> None:
        self.text.append(data)


def write_page(runs: list[Path]) -> str:
    return render_page(
        gather_results(runs, settings=ALL_EXAMPLES),
        [("processor", "<b>CPU</b>")],
        [("numba", "0.0")],
    )


@pytest.fixture(scope="module")
def page(runs) -> str:
    return write_page(runs)


@pytest.fixture(scope="module")
def reader(page) -> PageReader:
    return PageReader(page)


def test_page_is_well_formed_and_loads_nothing(page, reader) -> None:
    ids = [value for _, name, value in reader.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for tag, name, value in reader.attributes:
        if tag == "a" and name == "href" and value[0] == "#":
            assert value[1:] in ids
    parts = {key.split(".", 1)[1] for key in ids if key.startswith("mine.")}
    assert {
        "summary",
        "advice",
        "data",
        "quality",
        "texts",
        "cost",
        "settings",
        "training",
        "model-card",
        "recall",
    } <= parts
    for _, name, value in reader.attributes:
        if name in ("src", "href", "xlink:href", "srcset", "action", "data"):
            assert value.startswith(("#", "data:,", "data:text/csv;charset=utf-8,"))
    assert not set(reader.tags) & {"iframe", "object", "embed", "img", "base", "form"}
    assert not re.search(r"url\((?!#)|@import", page)
    assert "default-src 'none'" in page
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page


def test_hostile_names_and_texts_are_only_text(runs, page, reader) -> None:
    shown = "".join(reader.text)
    for text in (
        "<script>alert(1)</script>",
        '<img src="http://nowhere.invalid/x.png" onerror=alert(1)>',
        "<b>CPU</b>",
        "</svg></style></script><b>bold",
    ):
        assert text in shown
    assert reader.tags.count("b") < 30
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page)
    assert "very long " * 40 not in page
    page.encode("utf-8")
    assert write_page(runs) == page, "the same inputs give the same bytes"


def test_no_file_of_the_page_holds_a_formula(reader) -> None:
    files = []
    for _, name, value in reader.attributes:
        if name == "href" and "text/csv" in value:
            files.append(unquote(value).partition(",")[2])
    assert len(files) > 5
    assert any("'=HYPERLINK" in file for file in files)
    for file in files:
        for row in csv.reader(io.StringIO(file, newline="")):
            for cell in row:
                assert not re.match(r"[=+@\t\r]|-(?![\d.]+$)", cell)


def test_anchors_are_different_and_last() -> None:
    assert make_anchors(["Bibtex", "bibtex", "<b>", "é", "a b"]) == [
        "bibtex",
        "bibtex.2",
        "b",
        "dataset-4",
        "a-b",
    ]


def test_every_metric_on_the_page_equals_the_metrics_file(page, runs) -> None:
    shown = re.findall(r'<data value="([^"]*)"(?: class="best")?>([^<]*)<', page)
    figures = {(float(value), text) for value, text in shown}
    for run in runs:
        for name, theirs in json.loads((run / "metrics.json").read_text()).items():
            if "@" in name:
                assert (theirs, f"{100 * theirs:.2f}") in figures
            elif name == "nonzeros":
                assert (theirs, f"{theirs:,}") in figures


def test_only_what_is_surely_better_is_marked(runs, page) -> None:
    metrics = [json.loads((run / "metrics.json").read_text()) for run in runs]
    quality = page.split('<section class="quality"', 1)[1].split("</section>")[0]
    # the first run is better at PSP@1 on nearly every sample of the test instances, and at P@3 on
    # most of them
    for name, marked in (("PSP@1", [True, False]), ("P@3", [False, False])):
        assert metrics[0][name] > metrics[1][name]
        for figures, is_marked in zip(metrics, marked, strict=True):
            assert (f'class="best">{100 * figures[name]:.2f}<' in quality) == is_marked
    assert "the best is surely better than what is not marked" in page
    alone = render_page(gather_results(runs[:1]))
    assert 'class="best"' not in alone


def test_paths_break_between_their_parts() -> None:
    ours = breakable("results/held-out.h5 <a_b> 0.05 A&B")
    assert ours == "results/<wbr>held-<wbr>out.<wbr>h5 &lt;a_<wbr>b&gt; 0.05 A&amp;B"


def test_command_line_writes_the_page(runs, tmp_path) -> None:
    output = tmp_path / "report.html"
    sweep = f"--sweep=mine={','.join(run.name for run in runs)}"
    said = ovaflow("report", runs, f"--output={output}", "--examples=3", sweep)
    assert said == f"report: {output}\n"
    page = output.read_text()
    PageReader(page)
    texts = page.split('<section class="texts"')[1].partition("</section>")[0]
    assert texts.count('<div class="example">') == 3
    assert "Sweep <bdi>mine</bdi>" in page
    assert "Metrics by C" in page
    foot = re.findall("<dt>(.*?)</dt>", page.split('<footer id="_machine">')[1])
    assert {"processor", "NUMA nodes", "memory", "ovaflow", "Python", "numba"} <= set(foot)
    said = ovaflow("report", runs, f"--output={output}", "--sweep=mine", status=2)
    assert "expected NAME=RUN,RUN with all runs of a sweep" in said


def test_a_method_without_steps_has_no_figures_of_them(finished) -> None:
    both = render_page(gather_results([finished.path / "msi", finished.path / "forest"]))
    trees = render_page(gather_results([finished.path / "forest"]))
    assert "Newton steps" in "".join(PageReader(both).text)
    text = "".join(PageReader(trees).text)
    assert "Newton steps" not in text
    assert "fastxml" in text
    assert "Quality" in text


@pytest.mark.parametrize("n_test", [0, 1])
def test_smallest_dataset(tmp_path, n_test) -> None:
    folder = tmp_path / "<tiny>"
    bias = Split(from_scipy([[0.0, 1.0]]), from_scipy([[1.0]]))
    test = Split(from_scipy(np.ones((n_test, 2))), from_scipy(np.ones((n_test, 1))))
    write_dataset(folder / "dataset.h5", bias, test, ["only"], [], {"bias": 1.0})
    dataset = open_dataset(folder / "dataset.h5")
    model = write_weights(folder / "run" / "model.h5", dataset, np.float32([[0, -1]]))
    ids = np.full((n_test, 2), [0, -1], np.int32)
    scores = np.full((n_test, 2), [-1, -np.inf], np.float32)
    Predictions(ids, scores, 0.0, 1).write(
        folder / "run" / "predictions.h5", dataset=dataset, model=model
    )
    metrics = {
        "P@1": 0.0,
        "PSP@5": 0.0,
        "instances": n_test,
        "top_k": 2,
        "propensity_a": 0.55,
        "propensity_b": 1.5,
    }
    write_json(folder / "run" / "metrics.json", "metrics", metrics)
    page = render_page(gather_results([folder / "run"]))
    text = "".join(PageReader(page).text)
    assert "<tiny>" in text
    assert ("Test instance 0" in text) == bool(n_test)
    assert ("Of 100 instances, 0 get a right first label" in text) == bool(n_test)
    assert ("nothing was measured" in text) == (not n_test)


def test_captions_of_snakemakes_report_are_there_and_in_the_wheel() -> None:
    root = Path(__file__).parents[2]
    captions = {"page.rst", "workflow.rst"}
    for path in (root / "workflow" / "rules").glob("*.smk"):
        names = re.findall(r'mark_for_report\(.*, "([a-z]+)", "', path.read_text(encoding="utf-8"))
        captions |= {f"{name}.rst" for name in names}
    assert captions == {path.name for path in (root / "workflow" / "report").iterdir()}
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included["workflow/report"] == "ovaflow/pipeline/workflow/report"
