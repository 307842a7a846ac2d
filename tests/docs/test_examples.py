import re
import shutil
import socket
import subprocess
import time

import pytest
import yaml
from docs.pages import GENERATED, PAGES, ROOT, page_name, read_blocks, same_output
from pipeline_folder import PipelineFolder
from records import read_records

from ovaflow.settings.config import load_config, resolve_config

RUN = ("sh", "python")
FIRST_RUN = "first-run.log"
TABLE = ROOT / "docs" / "tutorial" / "records.csv"


@pytest.fixture(scope="session")
def finished_catalog(tmp_path_factory, shell):
    """The README's run on the tutorial's table."""
    folder = tmp_path_factory.mktemp("catalog")
    shutil.copy(TABLE, folder)
    readme = read_blocks(ROOT / "README.md")
    (folder / "my.yaml").write_text(
        next(block.code for block in readme if block.language == "yaml")
    )
    (folder / FIRST_RUN).write_text(shell("ovaflow run my.yaml", folder), encoding="utf-8")
    return folder


def is_run(block) -> bool:
    """Return whether a block is run here, in the folder of its page."""
    return block.language in RUN and block.mark in (None, "background") and not block.title


def has_examples(page) -> bool:
    """Return whether a page has blocks that are run."""
    return any(is_run(block) for block in read_blocks(page))


# where no kernel is compiled yet, the first of them waits for all
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", [page for page in PAGES if has_examples(page)], ids=page_name)
def test_examples(page, finished_catalog, tmp_path, shell, monkeypatch) -> None:
    folder = tmp_path / "catalog"
    shutil.copytree(finished_catalog, folder)
    monkeypatch.chdir(folder)
    session = _Session(folder, shell)
    try:
        for block in read_blocks(page):
            session.take(block, f"{page_name(page)}, line {block.line}")
    finally:
        session.end()


class _Session:
    """A folder in which the blocks of a page are run one after another."""

    def __init__(self, folder, shell) -> None:
        self.folder = folder
        self.shell = shell
        self.written = ""
        self.services = []
        self.names = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def take(self, block, where) -> None:
        if block.title.startswith("output"):
            if block.title == "output of the first run":
                self.written = (self.folder / FIRST_RUN).read_text(encoding="utf-8")
            assert same_output(block.code, self.written), (
                f"{where} shows\n{block.code}\nand it was\n{self.written}"
            )
        elif block.title and block.language != "sh":
            (self.folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / block.title).write_text(block.code, encoding="utf-8")
        elif block.mark == "background":
            self.services.append(self._started(self._here(block.code), where))
        elif dry := re.fullmatch(r"ovaflow run (\S+) --dry-run\n", block.code):
            # in this process: most of its time is Snakemake's start
            place = PipelineFolder(self.folder)
            self.written = place.dry_run("--logger-ovaflow-job-table", configfile=dry[1])
            assert " would run" in self.written, f"{where}:\n{self.written}"
        elif block.language == "sh" and block.mark is None:
            self.written = self.shell(self._here(block.code), self.folder)
        elif block.language == "python" and block.mark is None and not block.title:
            if self.names is None:
                self.names = _names()
            exec(compile(block.code, where, "exec"), self.names)

    def _here(self, code) -> str:
        served = code.replace("ovaflow serve ", f"exec ovaflow serve --port {self.port} ")
        return served.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")

    def _started(self, code, where) -> subprocess.Popen:
        log = self.folder / "service.log"
        with open(log, "w") as file:
            service = subprocess.Popen(
                ["bash", "-c", code], cwd=self.folder, env=self.shell.environment, stderr=file
            )
        end = time.monotonic() + 100
        while "Application startup complete" not in log.read_text():
            assert service.poll() is None, f"{where}:\n{log.read_text()}"
            assert time.monotonic() < end, f"{where} did not answer"
            time.sleep(0.1)
        return service

    def end(self) -> None:
        for service in self.services:
            service.terminate()
            assert service.wait(60) == 0


def _names() -> dict:
    """Names that programs in the documentation may use: texts and their labels, features and an
    indicator.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import MultiLabelBinarizer

    rows = [row for row in read_records(TABLE) if row["subjects"]]
    texts = [row["title"] for row in rows]
    labels = [row["subjects"].split("; ") for row in rows]
    X = TfidfVectorizer().fit_transform(texts)
    Y = MultiLabelBinarizer().fit_transform(labels)
    return {
        "texts": texts[80:],
        "labels": labels[80:],
        "test_texts": texts[:80],
        "test_labels": labels[:80],
        "X": X,
        "Y": Y,
    }


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_what_is_not_run_says_why(page) -> None:
    for block in read_blocks(page):
        if block.mark == "not run":
            assert len(block.reason or "") > 10, f"line {block.line}"


@pytest.mark.parametrize("page", sorted(set(PAGES) - GENERATED), ids=page_name)
def test_configs_are_legal(page) -> None:
    defaults = load_config(ROOT / "config" / "config.yaml")
    for block in read_blocks(page):
        if block.language == "yaml" and block.mark != "no config":
            # pages show parts of a config: the runs that others start from are those of the page
            resolve_config(
                yaml.safe_load(block.code), defaults, f"{page_name(page)}, line {block.line}"
            )


@pytest.mark.parametrize(
    ("expected", "written", "same"),
    [
        ("a 1.00 b", "a 1.01   b", True),
        ("a 1.00 b", "a 1.10 b", False),
        ("a 3 b", "a 4 b", False),
        ("took … s\nb", "took 1.3 s\nb\n", True),
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…", "a\nb\nc\nd", True),
        ("a\nd", "a\nb\nd", False),
        ("a", "a\nb", False),
        ("w +0.50 ███", "w +0.49 ██▌", True),
    ],
)
def test_outputs_are_compared(expected, written, same) -> None:
    assert same_output(expected, written) == same


def test_every_page_of_code_was_looked_at() -> None:
    languages = set()
    for page in PAGES:
        languages |= {block.language for block in read_blocks(page)}
    assert set(RUN) <= languages
    strange = {
        language for language in languages if re.fullmatch("bash|shell|console|py", language)
    }
    assert not strange, "only sh and python are run"
