"""The hash that tells kernels of older code."""

import ast
from pathlib import Path

import ovaflow
from ovaflow.sparse import fingerprint

KERNELS = "from ovaflow.sparse.jit import kernel\n"
MODULES = {
    "jit.py": "",
    "csr.py": KERNELS,
    "newton.py": "from ovaflow.sparse.csr import dot\n",
    "new.py": KERNELS,
}


def test_only_modules_of_kernels_count(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(fingerprint, "_PACKAGE", tmp_path)
    found = []
    for name, text in MODULES.items():
        (tmp_path / name).write_text(f"{text}\n")
        found.append(fingerprint.kernel_fingerprint.__wrapped__())
    assert found[0] != found[1] == found[2] != found[3]
    (tmp_path / "jit.py").write_text("changed")
    assert fingerprint.kernel_fingerprint.__wrapped__() not in found


def test_kernels_use_nothing_of_modules_without_kernels() -> None:
    # what they use of others would not count
    root = Path(ovaflow.__file__).parent
    with_kernels = set()
    for path in root.rglob("*.py"):
        if fingerprint._HAS_KERNELS.search(path.read_bytes()):
            with_kernels.add(path)
    assert len(with_kernels) > 30
    for path in with_kernels:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        places = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                place = root.parent / Path(*node.module.split(".")).with_suffix(".py")
                places |= {alias.name: place for alias in node.names}
        foreign = set()
        for name, place in places.items():
            if place.is_file() and place not in with_kernels:
                foreign.add(name)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and is_kernel(node):
                assert not find_used_names(node) & foreign, (path, node.name)


def is_kernel(function: ast.FunctionDef) -> bool:
    """Check if a function is decorated as a kernel."""
    decorators = {ast.unparse(decorator) for decorator in function.decorator_list}
    return any(name.endswith(("kernel", "callee")) for name in decorators)


def find_used_names(function: ast.FunctionDef) -> set[str]:
    """Find the names in the body of a function."""
    used = set()
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                used.add(node.id)
    return used
