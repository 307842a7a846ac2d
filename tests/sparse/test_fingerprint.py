"""What tells kernels of older code."""

import ast
from pathlib import Path

import ovaflow
from ovaflow.sparse.fingerprint import _HAS_KERNELS


def test_kernels_use_nothing_of_modules_without_kernels():
    # what they use of others would not count
    root = Path(ovaflow.__file__).parent
    with_kernels = {path for path in root.rglob("*.py") if _HAS_KERNELS.search(path.read_bytes())}
    assert len(with_kernels) > 30
    for path in with_kernels:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        places = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                place = root.parent / Path(*node.module.split(".")).with_suffix(".py")
                places |= {alias.name: place for alias in node.names}
        foreign = {name for name, place in places.items() if place.is_file() and place not in with_kernels}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and any("kernel" in ast.unparse(each) for each in node.decorator_list):
                used = {each.id for body in node.body for each in ast.walk(body) if isinstance(each, ast.Name)}
                assert not used & foreign, (path, node.name)
