"""The documentation as a site: complete, and at home on a machine without a network."""

import os
import re
import subprocess
import sys

import pytest
from docs.pages import ROOT

pytest.importorskip("mkdocs", reason="the site is built with pip install '.[docs]'")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_menu(site) -> None:
    menu = (site / "index.html").read_text(encoding="utf-8")
    pages = [path.relative_to(site).as_posix() for path in site.rglob("*.html")]
    written = [page for page in pages if not page.startswith("source/") and page != "404.html"]
    missing = [page for page in written if f'href="{page}"' not in menu and page != "index.html"]
    assert not missing, "name them under nav in mkdocs.yml"


def test_equations_are_mathml(site) -> None:
    page = (site / "explanation" / "solver.html").read_text(encoding="utf-8")
    assert page.count("<math ") > 20
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        prose = re.sub(r"<(pre|code|script)\b.*?</\1>", "", text, flags=re.DOTALL)
        assert "arithmatex" not in prose, path
        assert not re.search(r"\\(frac|sum|langle|lVert)|>\\[a-z]+<", prose), (
            f"{path}: an equation is left as it was written"
        )


def test_classes_have_a_page(site) -> None:
    page = (site / "reference" / "python.html").read_text(encoding="utf-8")
    for name in (
        "OneVsAllClassifier",
        "predict_topk",
        "TextFeatures",
        "from_texts",
        "most_specific",
    ):
        assert name in page


def test_pages_link_to_the_source(site) -> None:
    assert (
        'href="../source/src/ovaflow/solver/newton.py.html"'
        in (site / "explanation" / "solver.html").read_text()
    )
    assert (
        "solve_label"
        in (site / "source" / "src" / "ovaflow" / "solver" / "newton.py.html").read_text()
    )


@pytest.mark.browser
def test_it_works_from_the_disk_without_a_network(site, chromium) -> None:
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    addresses = []
    errors = []
    page.on("request", lambda request: addresses.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    for name in ("index", "tutorial", "explanation/solver", "reference/config"):
        page.goto(f"{(site / name).as_uri()}.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, (
            f"{name} is wider than a phone"
        )
    page.set_viewport_size({"width": 1280, "height": 900})
    page.click("input.md-search__input")
    page.keyboard.type("label tree")
    page.wait_for_selector(".md-search-result__item h1")
    assert page.inner_text(".md-search-result__item h1") == "Label tree"
    local = ("file:", "data:", "blob:", "about:")
    assert [url for url in addresses if not url.startswith(local)] == []
    assert errors == []
