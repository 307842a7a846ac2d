"""Reference pages agree with the code, links lead somewhere, and the site is built of them."""

import importlib.util
import re
from collections import Counter

import pytest
from docs.pages import PAGES, ROOT, page_name, read_prose

_SPEC = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "make" / "reference.py")
reference = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(reference)


@pytest.mark.parametrize("name", reference.PAGES)
def test_reference_is_up_to_date(name) -> None:
    stored = (reference.FOLDER / name).read_text(encoding="utf-8")
    assert stored == reference.PAGES[name](), "write it again: python docs/make/reference.py"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page) -> None:
    for target, anchor in re.findall(
        r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)", read_prose(page)
    ):
        place = (page.parent / target).resolve() if target else page
        assert place.exists(), f"{target} does not exist"
        assert place.is_relative_to(ROOT), f"{target} is outside of the repository"
        if anchor:
            assert anchor in make_anchors(place), f"{target} has no {anchor}"


def make_anchors(page):
    """Make the anchors of a page's headings as code hosts and MkDocs do."""
    text = re.sub(
        r"^(```|~~~).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    counts = Counter()
    slugs = set()
    for title in re.findall(r"^#{1,6} (.*)$", text, re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
        slugs.add(f"{slug}_{counts[slug]}" if counts[slug] else slug)
        counts[slug] += 1
    return slugs


def test_readme_stays_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").count("\n")
    assert 90 <= lines <= 130
