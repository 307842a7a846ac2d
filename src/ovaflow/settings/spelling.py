"""How values are spelled as texts, in a config file as on the command line: in YAML."""

from functools import lru_cache
from typing import Any

import yaml

YAML_FAILURES = (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError)
"""PyYAML's errors, and its own mistakes with values that have tags, and with very deep ones."""


class UniqueKeyLoader(yaml.SafeLoader):
    """A loader for which each key of a mapping occurs once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in keys:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} appears twice", problem_mark=key.start_mark
                )
            keys.add(key.value)
        return super().construct_mapping(node, deep)


def parse_value(value: Any) -> Any:
    """What a text says in YAML, or as a number such as 1e-2, which YAML takes for a text; other
    values as they are.
    """
    return _parsed(value) if isinstance(value, str) else value


@lru_cache(maxsize=1024)
def _parsed(text):
    # settings are validated again for each dataset, run and step
    try:
        value = yaml.load(text, UniqueKeyLoader)
    except YAML_FAILURES:
        return text
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value
