"""What tells kernels of older code."""

import ast
from pathlib import Path

import pytest

import ovaflow
from ovaflow.sparse import fingerprint

KERNEL = "from ovaflow.sparse.jit import kernel\n@kernel\ndef dot(x): pass\n"
FILES = {
    "sparse/jit.py": "import numba\n",
    "sparse/csr.py": KERNEL,
    "solver/newton.py": "from ovaflow.sparse.csr import dot\nSTEP = 1\n",
    "cli/warm_up.py": "from ovaflow.sparse.jit import cache_directory\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(fingerprint, "_PACKAGE", tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "counts"), [(name, name.startswith("sparse/")) for name in FILES])
def test_only_modules_of_kernels_count(package, name, counts):
    theirs = fingerprint.kernel_fingerprint.__wrapped__()
    (package / name).write_text(FILES[name] + "# changed\n")
    assert (fingerprint.kernel_fingerprint.__wrapped__() != theirs) == counts


def test_kernels_use_nothing_of_modules_without_kernels():
    # what they use of others would not count
    root = Path(ovaflow.__file__).parent
    sources = {path.relative_to(root.parent): path.read_text(encoding="utf-8") for path in root.rglob("*.py")}
    with_kernels = {path for path, source in sources.items() if fingerprint._HAS_KERNELS.search(source.encode())}
    assert len(with_kernels) > 30
    for path in with_kernels:
        tree, origins = ast.parse(sources[path]), {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("ovaflow."):
                origins |= {alias.name: Path(*node.module.split(".")).with_suffix(".py") for alias in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and any("kernel" in ast.unparse(each) for each in node.decorator_list):
                used = {each.id for body in node.body for each in ast.walk(body) if isinstance(each, ast.Name)}
                foreign = {name for name in used & origins.keys() if origins[name] not in with_kernels}
                assert not foreign, (path, node.name, foreign)
