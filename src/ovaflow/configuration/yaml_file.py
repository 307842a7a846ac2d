"""Config files as YAML, before anything is made of them: of bounded size, every key once."""

import os
from pathlib import Path

import yaml

from ovaflow.console.errors import InputError

LARGEST = 1 << 20
"""Bytes of a config file."""
MOST_NODES = 100_000
"""Values and keys of a config file, each alias counted as all that it stands for."""
DEEPEST = 30
"""Mappings and lists within each other."""


def read_yaml(path):
    """Content of a YAML file that a person wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    object
        Of mappings, lists, texts, numbers, dates and None: no tag makes another type.

    Raises
    ------
    InputError
        If it is no YAML, has a key twice in a mapping, or more of anything than
        the limits of this module.
    """
    try:
        if os.stat(path).st_size > LARGEST:
            raise InputError(f"more than {LARGEST:,} bytes", path=path, remedy="is it a config file?")
        text = Path(path).read_text(encoding="utf-8")
        root = yaml.compose(text, yaml.SafeLoader)
        if root is not None:
            _refuse_bombs(root, path)
        return yaml.safe_load(text)
    except OSError as error:
        raise InputError(error.strerror, path=path, remedy="give the path of a config file") from None
    except RecursionError:
        raise InputError(
            f"nested more than {DEEPEST} deep", path=path, remedy="mend this file, or give another one"
        ) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise InputError(f"no YAML: {error.problem}", path=path, line=line) from None
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(f"no YAML: {error}", path=path, remedy="mend this file, or give another one") from None


def _refuse_bombs(root, path):
    """Walk the nodes, each once: sizes of what aliases stand for are known by then, or the walk is within them."""
    sizes = {}

    def size(node, depth):
        if depth > DEEPEST:
            raise InputError(f"nested more than {DEEPEST} deep", path=path, line=node.start_mark.line + 1)
        if id(node) not in sizes:
            _refuse_doubles(node, path)
            sizes[id(node)] = 1 + sum(size(child, depth + 1) for child in _children(node))
        if sizes[id(node)] > MOST_NODES:
            raise InputError(
                f"aliases stand for more than {MOST_NODES:,} values", path=path, line=node.start_mark.line + 1
            )
        return sizes[id(node)]

    size(root, 0)


def _children(node):
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _refuse_doubles(node, path):
    if not isinstance(node, yaml.MappingNode):
        return
    seen = set()
    for key, _ in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else None
        if name is not None and name in seen:
            raise InputError(f"the key {name[:60]!r} stands twice", path=path, line=key.start_mark.line + 1)
        seen.add(name)
