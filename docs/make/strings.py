"""Print every string that users may read, with its place: ``python docs/make/strings.py``.

Texts of errors, helps, logs, descriptions, templates and scripts; ``{...}`` stands for what a
program fills in. Any string of two words counts, so a few are printed that nobody reads.
"""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENDINGS_BY_FOLDER = {"src": (".py", ".j2", ".js"), "workflow": (".smk", ".rst")}
TWO_WORDS = re.compile(r"[^\W\d_]{2,}[,;:.!?)'\"]* +[('\"{]*[^\W_]")
LITERAL = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`")


class Literals(ast.NodeVisitor):
    """Lines and texts of a module's strings; of docstrings those of commands and routes."""

    def __init__(self, text) -> None:
        self.strings = []
        self.visit(ast.parse(text))

    def visit_FunctionDef(self, node) -> None:
        if any(isinstance(decorator, ast.Call) for decorator in node.decorator_list):
            self.strings.append((node.lineno, ast.get_docstring(node) or ""))
        self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Expr(self, node) -> None:
        if not isinstance(node.value, ast.Constant):  # docstrings, also of constants
            self.generic_visit(node)

    def visit_JoinedStr(self, node) -> None:
        parts = (part.value if isinstance(part, ast.Constant) else "{...}" for part in node.values)
        self.strings.append((node.lineno, "".join(parts)))
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part)

    def visit_Constant(self, node) -> None:
        if isinstance(node.value, str):
            self.strings.append((node.lineno, node.value))


class Texts(HTMLParser):
    """Lines and texts of a page."""

    def __init__(self, text) -> None:
        super().__init__()
        self.strings = []
        self.feed(text)

    def handle_starttag(self, tag, attributes) -> None:
        for name, value in attributes:
            if name in ("alt", "aria-label", "content", "placeholder", "title"):
                self.strings.append((self.getpos()[0], value or ""))

    def handle_data(self, data) -> None:
        self.strings.append((self.getpos()[0], data))


def find_strings(path: Path) -> list[tuple[int, str]]:
    """Find the strings of a file: lines and texts."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".py", ".j2"):
        parser = Literals(text) if path.suffix == ".py" else Texts(text)
        return parser.strings
    strings = []
    for number, line in enumerate(text.splitlines(), 1):
        texts = [line] if path.suffix == ".rst" else LITERAL.findall(line)
        strings += [(number, text) for text in texts if '"""' not in line]
    return strings


for folder, endings in ENDINGS_BY_FOLDER.items():
    for path in sorted((ROOT / folder).rglob("*.*")):
        if path.suffix not in endings:
            continue
        for line, text in find_strings(path):
            if TWO_WORDS.search(text):
                print(f"{path.relative_to(ROOT)}:{line}: {' '.join(text.split())}")
