"""How values are spelled as texts, in a config file as on the command line: in YAML."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import yaml

_MOST_VALUES = 10**6
_MERGE = "tag:yaml.org,2002:merge"
FAILURES = (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError)
"""PyYAML's errors, and its own mistakes with values that have tags, and with very deep ones."""


class Loader(yaml.SafeLoader):
    """A loader for which each key of a mapping occurs once, and whose aliases stand for a bounded number of values."""

    def construct_document(self, node: yaml.Node) -> Any:
        for count, (each, keys, is_entry) in enumerate(_walk(node), start=1):
            if count > _MOST_VALUES:
                problem = f"aliases stand for more than {_MOST_VALUES:,} values"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=each.start_mark)
            if isinstance(each, yaml.ScalarNode):
                self.check(each, keys, is_entry)
        return super().construct_document(node)

    def check(self, node: yaml.ScalarNode, keys: tuple[str, ...], is_entry: bool) -> None:
        """Refuse what is written below these keys, all of it or one of its entries."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in keys:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} appears twice", problem_mark=key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep)


def _walk(node: yaml.Node) -> Iterator[tuple[yaml.Node, tuple[str, ...], bool]]:
    """Each node as often as aliases stand for it, the last three keys above it, and whether it is one of several."""
    waiting: list[tuple[yaml.Node, tuple[str, ...], bool]] = [(node, (), False)]
    while waiting:
        each, keys, is_entry = waiting.pop()
        yield each, keys, is_entry
        if isinstance(each, yaml.SequenceNode):
            waiting += [(entry, keys, True) for entry in reversed(each.value)]
        elif isinstance(each, yaml.MappingNode):
            for key, value in reversed(each.value):
                if key.tag == _MERGE:
                    waiting.append((value, keys, False))
                else:
                    waiting += [(value, (*keys, str(key.value))[-3:], False), (key, keys, True)]


def parsed(value: Any) -> Any:
    """What a text says in YAML, or as a number such as 1e-2, which YAML takes for a text; other values as they are."""
    return _parsed(value) if isinstance(value, str) else value


@lru_cache(maxsize=1024)
def _parsed(text):
    # settings are validated again for each dataset, run and step
    try:
        value = yaml.load(text, Loader)
    except FAILURES:
        return text
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value
