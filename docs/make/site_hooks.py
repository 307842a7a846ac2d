"""Hooks of MkDocs: equations as MathML, and pages for the source files that the documentation links
to.

Links lead to files of the repository, so that the same Markdown can be read there; on the site each
of these files becomes a page. Equations are written between dollar signs, as code hosts read them,
and need no script.
"""

import html
import posixpath
import re
import runpy
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).parents[2]
SOURCES = "source"
_BARS = "&#x02016;|&#x0007C;"
_LOW_BAR = 'stretchy="false" lspace="0.1em" rspace="0.1em"'
_SHIM = "https://unpkg.com/iframe-worker/shim"

_LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?(?=\))")
_EQUATION = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', re.DOTALL)
_LANGUAGES = {
    ".py": "python",
    ".smk": "python",
    ".yaml": "yaml",
    ".json": "json",
    ".toml": "toml",
    ".tsv": "text",
    ".css": "css",
    ".sh": "bash",
}


def find_links(text: str) -> list[str]:
    """Return the targets of the relative links of a page, except those in code."""
    prose = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    return [match.group(1) for match in _LINK.finditer(re.sub(r"`[^`\n]*`", "", prose))]


def find_source_path(page: str, target: str) -> str | None:
    """Return the path in the repository of a link on a page below docs; None if it is a page."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    if path.startswith("docs/") and not path.endswith(".py"):
        return None
    return path


def on_files(files, config) -> Files:
    """Add the page of the Python classes, and one for each linked file of the repository."""
    classes = runpy.run_path(str(ROOT / "docs" / "make" / "reference.py"))["python_page"]()
    files.append(File.generated(config, "reference/python.md", content=classes))
    wanted = set()
    for file in files.documentation_pages():
        for link in find_links(file.content_string):
            path = find_source_path(file.src_uri, link)
            if path is not None:
                wanted.add(path)
    for path in sorted(wanted):
        if (ROOT / path).exists():
            files.append(File.generated(config, f"{SOURCES}/{path}.md", content=_source_page(path)))
    return files


def _source_page(path: str) -> str:
    """Make the page of a file or folder of the repository."""
    file = ROOT / path
    head = (
        f"---\ntitle: {file.name}\nsearch: {{exclude: true}}\nhide: [navigation]\n---\n\n"
        f"# {path}\n\n"
    )
    if file.is_dir():
        names = []
        for each in file.iterdir():
            if each.name[0] not in "._":
                names.append(f"{each.name}/" if each.is_dir() else each.name)
        return head + "".join([f"* `{name}`\n" for name in sorted(names)])
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        # its own links lead to files without a page
        return head + re.sub(r"\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", text)
    return f"{head}````{_LANGUAGES.get(file.suffix, 'text')}\n{text.rstrip()}\n````\n"


def on_page_markdown(markdown, page, config, files) -> str:
    """Redirect links to files of the repository to their pages."""

    def redirect(match: re.Match) -> str:
        path = find_source_path(page.file.src_uri, match.group(1))
        if path is None:
            return match.group(0)
        return posixpath.relpath(
            f"{SOURCES}/{path}.md", posixpath.dirname(page.file.src_uri) or "."
        )

    return _LINK.sub(redirect, markdown)


def on_page_content(content, page, config, files) -> str:
    """Turn equations into MathML."""
    return _EQUATION.sub(_mathml, content)


def on_post_page(output, page, config) -> str:
    """Load the shim for workers from the site; the theme would request it from another host."""
    return output.replace(_SHIM, get_relative_url("worker.js", page.url))


def _mathml(match: re.Match) -> str:
    """Convert the equation of a match."""
    latex = html.unescape(match.group(2)).strip()
    block = match.group(1) == "div"
    written = convert(latex[2:-2].strip(), display="block" if block else "inline")
    # bars stretch only where the equation says so, with left and right
    written = re.sub(f"<mo>({_BARS})</mo>", rf"<mo {_LOW_BAR}>\1</mo>", written)
    return f'<div class="equation">{written}</div>' if block else written
