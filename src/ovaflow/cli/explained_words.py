"""Explanations on a terminal: a text with its words coloured, tables of words with bars."""

import unicodedata

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

_BAR = 12
"""Characters of the longest bar."""

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_UP, _DOWN = "green", "red"


def show_instance(console, answer):
    """Print what pushes labels up and down for an instance.

    Parameters
    ----------
    console : rich.console.Console
    answer : dict
        ``text`` and ``labels``, as ``--json`` prints them.
    """
    for explained in answer["labels"]:
        console.print()
        console.print(_heading(explained, _outcome(explained)))
        if answer["text"]:
            console.print(_marked(answer["text"], explained), soft_wrap=False)
        console.print(_two_sides(explained, "adds", ("pushed up by", "pushed down by")))
        console.print(f"bias {explained['bias']:+.3f}, other words {explained['others']:+.3f}", style="dim")


def show_label(console, answer):
    """Print the strongest words and the nearest labels of a label.

    Parameters
    ----------
    console : rich.console.Console
    answer : dict
        An entry of ``labels``, as ``--json`` prints them.
    """
    console.print()
    console.print(_heading(answer, f"{answer['positives']:,} training positives, bias {answer['bias']:+.3f}"))
    console.print(_two_sides(answer, "weight", ("strongest for it", "strongest against it")))
    nearest = _table("nearest labels", [(each["name"], each["cosine"]) for each in answer["nearest"]], "cyan", "")
    console.print(nearest if answer["nearest"] else Text("no label near it", style="dim"))


def _heading(answer, outcome):
    return Text.assemble((_plain(answer["name"]), "bold"), "  ", (outcome, "cyan"))


def _outcome(explained):
    probability = f", probability {100 * explained['probability']:.0f} %" if "probability" in explained else ""
    return f"score {explained['score']:+.3f}{probability}"


def _two_sides(answer, value, titles):
    sides = [[(each["word"], each[value]) for each in answer[side]] for side in ("up", "down")]
    longest = max((abs(number) for side in sides for _, number in side), default=0)
    grid = Table.grid(padding=(0, 4))
    tables = [
        _table(title, side, style, "+", longest) for title, side, style in zip(titles, sides, (_UP, _DOWN), strict=True)
    ]
    grid.add_row(*tables)
    return grid


def _table(title, rows, style, sign, longest=None):
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(Text(title, style="dim"), overflow="fold", min_width=len(title), max_width=32)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("", width=_BAR, no_wrap=True)
    longest = longest or max((abs(number) for _, number in rows), default=1)
    for word, number in rows:
        table.add_row(Text(_plain(word)), f"{number:{sign}.3f}", Text(_bar(abs(number) / longest), style=style))
    return Group(table) if rows else Text(f"{title}: nothing", style="dim")


def _bar(share):
    eighths = max(1, round(8 * _BAR * share))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _marked(text, explained):
    marked = Text(_plain(text))
    for side, style in (("up", _UP), ("down", _DOWN)):
        for each in explained[side]:
            for start, end in each["places"]:
                marked.stylize(f"bold {style}", start, end)
    return marked


def _plain(text):
    """Control characters as spaces, place for place: a text must not steer the terminal."""
    return "".join(" " if unicodedata.category(character) in ("Cc", "Cf", "Cs") else character for character in text)
