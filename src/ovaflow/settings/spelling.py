"""Spelling of values as texts, in a config file and on the command line: as YAML."""

from functools import lru_cache
from typing import Any

import yaml

YAML_FAILURES = (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError)
"""PyYAML's errors, and its own mistakes with values that have tags, and with very deep ones."""


class UniqueKeyLoader(yaml.SafeLoader):
    """A loader that refuses a mapping in which a key occurs twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        """Construct a mapping from its node."""
        keys = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in keys:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} appears twice", problem_mark=key.start_mark
                )
            keys.add(key.value)
        return super().construct_mapping(node, deep)


def parse_value(value: Any) -> Any:
    """Parse a text as YAML, or as a number such as 1e-2, which is a text in YAML.

    Other values are returned unchanged.
    """
    if isinstance(value, str):
        return _parse_text(value)
    return value


@lru_cache(maxsize=1024)
def _parse_text(text: str) -> Any:
    # cached since settings are validated again for each dataset, run and step
    try:
        value = yaml.load(text, UniqueKeyLoader)
    except YAML_FAILURES:
        return text
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return value
