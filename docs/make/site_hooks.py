"""What MkDocs does beside its own work: equations as MathML, and pages for the source files that the texts link to.

Links go to files of the repository, so that the same Markdown can be read there; on the site each of these files
becomes a page of its own. Equations stand between dollar signs, as code hosts read them, and need no script.
"""

import html
import posixpath
import re
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).parents[2]
SOURCES = "source"
_BARS, _LOW = "&#x02016;|&#x0007C;", 'stretchy="false" lspace="0.1em" rspace="0.1em"'
_SHIM = "https://unpkg.com/iframe-worker/shim"

_LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?(?=\))")
_EQUATION = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', re.DOTALL)
_LANGUAGES = {
    ".py": "python", ".smk": "python", ".yaml": "yaml", ".json": "json", ".toml": "toml", ".tsv": "text",
    ".css": "css", ".sh": "bash",
}  # fmt: skip


def links_of(text):
    """Targets of the relative links of a page, without those in code.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
    """
    prose = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    return [match.group(1) for match in _LINK.finditer(re.sub(r"`[^`\n]*`", "", prose))]


def outside(page, target):
    """Path in the repository that a link leads to, if that is no page.

    Parameters
    ----------
    page : str
        Path of the page below docs.
    target : str

    Returns
    -------
    str or None
    """
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    if path.startswith("docs/") and not path.endswith(".py"):
        return None
    return path


def on_files(files, config):
    """Add a page for each linked file of the repository."""
    wanted = set()
    for file in files.documentation_pages():
        wanted |= {path for link in links_of(file.content_string) if (path := outside(file.src_uri, link))}
    for path in sorted(wanted):
        if (ROOT / path).exists():
            files.append(File.generated(config, f"{SOURCES}/{path}.md", content=_source_page(path)))
    return files


def _source_page(path):
    place = ROOT / path
    head = f"---\ntitle: {place.name}\nsearch: {{exclude: true}}\nhide: [navigation]\n---\n\n# {path}\n\n"
    if place.is_dir():
        names = sorted(each.name + "/" * each.is_dir() for each in place.iterdir() if each.name[0] not in "._")
        return head + "".join(f"* `{name}`\n" for name in names)
    text = place.read_text(encoding="utf-8")
    if place.suffix == ".md":
        # its own links lead to files that have no page
        return head + re.sub(r"\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", text)
    return f"{head}````{_LANGUAGES.get(place.suffix, 'text')}\n{text.rstrip()}\n````\n"


def on_page_markdown(markdown, page, config, files):
    """Let links to files of the repository lead to their pages."""

    def relinked(match):
        path = outside(page.file.src_uri, match.group(1))
        if path is None:
            return match.group(0)
        return posixpath.relpath(f"{SOURCES}/{path}.md", posixpath.dirname(page.file.src_uri) or ".")

    return _LINK.sub(relinked, markdown)


def on_page_content(content, page, config, files):
    """Turn equations into MathML."""
    return _EQUATION.sub(_mathml, content)


def on_post_page(output, page, config):
    """Load the stand-in for workers from the site, where the theme would ask another host for one."""
    return output.replace(_SHIM, get_relative_url("worker.js", page.url))


def _mathml(match):
    latex = html.unescape(match.group(2)).strip()
    block = match.group(1) == "div"
    written = convert(latex[2:-2].strip(), display="block" if block else "inline")
    # bars are as tall as what stands between them only where the text says so, by left and right
    written = re.sub(f"<mo>({_BARS})</mo>", rf"<mo {_LOW}>\1</mo>", written)
    return f'<div class="equation">{written}</div>' if block else written
