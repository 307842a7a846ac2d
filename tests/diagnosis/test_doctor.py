"""``ovaflow doctor``: what is well is found to be well, and what is not is named with a remedy."""

import importlib.metadata
import json
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from ovaflow.cli import main
from ovaflow.diagnosis import machine, self_test, storage
from ovaflow.diagnosis.finding import Verdict
from ovaflow.diagnosis.installation import check_packages, check_python, check_snakemake
from ovaflow.diagnosis.machine import check_clock, check_disk, check_locale, check_memory, check_numa, check_threads
from ovaflow.diagnosis.storage import check_artifacts, check_cache
from ovaflow.machine.allowance import Allowance
from ovaflow.machine.topology import Node


def allowance(**given):
    return Allowance(**({"cpus": frozenset(range(8)), "nodes": frozenset({0})} | given))


def only(findings):
    (finding,) = findings
    return finding


def test_all_is_well_here(capsys):
    assert main(["doctor", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    areas = [finding["area"] for finding in findings]
    expected = ["python", "packages", "workflow", "snakemake", "threads", "numa", "memory", "disk", "clock", "locale"]
    assert list(dict.fromkeys(areas)) == [*expected, "hdf5", "cache", "self-test"]
    assert {finding["verdict"] for finding in findings} <= {"ok", "warn"}
    assert all(bool(finding["remedy"]) == (finding["verdict"] != "ok") for finding in findings)


def test_a_wrong_solution_is_a_failure(capsys, monkeypatch):
    monkeypatch.setattr(self_test, "OBJECTIVES", (65.6, 48.5, 28.0))
    assert main(["doctor"]) == 1
    written = capsys.readouterr().out
    assert "fail  self-test  objectives [65.56" in written
    assert "do: do not trust results" in written
    assert written.splitlines()[-1].startswith("ovaflow does not work here: 1 of ")


def test_wrong_labels_are_a_failure(monkeypatch):
    predict = self_test.predict_top_k
    monkeypatch.setattr(
        self_test, "predict_top_k", lambda *given, **more: [a[:, ::-1] for a in predict(*given, **more)]
    )
    finding = only(self_test.run_self_test())
    assert (finding.verdict, "not the best" in finding.said) == (Verdict.FAIL, True)


def test_the_known_objectives_are_liblinears():
    dataset = self_test.known_problem()
    X, Y = dataset.train.X.to_scipy().toarray().astype(np.float64), dataset.train.Y.to_scipy().toarray()
    for labels, ours in zip(Y.T, self_test.OBJECTIVES, strict=True):
        solver = LinearSVC(C=1, tol=1e-12, fit_intercept=False, dual=False, max_iter=100_000)
        w = solver.fit(X, labels).coef_[0]
        theirs = w @ w / 2 + np.square(np.maximum(0, 1 - (2 * labels - 1) * (X @ w))).sum()
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_packages_out_of_their_ranges():
    finding = only(check_packages(["numpy>=99", "no-such-package>=1", "scipy>=1"]))
    assert finding.verdict == Verdict.FAIL
    assert finding.said == f"numpy {importlib.metadata.version('numpy')} is not >=99; no-such-package is missing"
    assert only(check_packages()).verdict == Verdict.OK


def test_another_system_or_an_old_python(monkeypatch):
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert only(check_python()).verdict == Verdict.FAIL
    monkeypatch.setattr("sys.version_info", (3, 10))
    assert "Python 3.11" in only(check_python()).remedy


def test_slurm_without_its_plugin(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/sbatch")
    monkeypatch.setattr("pkgutil.iter_modules", lambda: [])
    *_, finding = check_snakemake()
    assert finding.remedy == "pip install snakemake-executor-plugin-slurm"


def test_cpu_time_below_the_number_of_cpus():
    finding = only(check_threads(allowance(quota=1.5, memory=None, memory_left=None)))
    assert finding.verdict == Verdict.WARN
    assert "snakemake --cores 2 instead" in finding.remedy
    assert only(check_threads(allowance(quota=8, memory=None, memory_left=None))).verdict == Verdict.OK


def test_little_memory():
    finding = only(check_memory(allowance(quota=None, memory=2 << 30, memory_left=1 << 30)))
    assert finding.verdict == Verdict.WARN
    assert "1.0 GiB free" in finding.said
    assert "limit of the control group 2.0 GiB" in finding.said


def test_nodes_that_memory_cannot_be_bound_to(monkeypatch):
    nodes = [Node(k, ((2 * k,), (2 * k + 1,)), 1 << 30, {}) for k in range(2)]
    assert only(check_numa(nodes[:1])).said == "one node, nothing to place"

    def refuse():
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(machine, "policy", refuse)
    finding = only(check_numa(nodes))
    assert (finding.verdict, "SYS_NICE" in finding.remedy) == (Verdict.WARN, True)
    monkeypatch.setattr(machine, "policy", lambda: 0)
    assert only(check_numa(nodes)).said.startswith("2 nodes of 2 CPUs")
    monkeypatch.setenv("OVAFLOW_NUMA", "off")
    assert "OVAFLOW_NUMA" in only(check_numa(nodes)).said


def test_folders_that_cannot_be_written(monkeypatch, tmp_path):
    monkeypatch.setenv("OVAFLOW_SCRATCH", "/proc")
    results, _, scratch = check_disk(tmp_path)
    assert (results.verdict, scratch.verdict) == (Verdict.OK, Verdict.FAIL)
    assert "scratch (OVAFLOW_SCRATCH): /proc" in scratch.said
    (tmp_path / "file").touch()
    assert only(check_artifacts(tmp_path / "file")).verdict == Verdict.FAIL
    assert only(check_artifacts(tmp_path)).verdict == Verdict.OK
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_little_disk(monkeypatch, tmp_path):
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1))
    assert {finding.verdict for finding in check_disk(tmp_path)} == {Verdict.WARN}


def test_a_file_server_whose_clock_is_wrong(monkeypatch, tmp_path):
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now - 3600)
    finding = only(check_clock(tmp_path))
    assert finding.verdict == Verdict.WARN
    assert "3600 s ahead of" in finding.said


def test_another_encoding(monkeypatch):
    monkeypatch.setattr("locale.getpreferredencoding", lambda _: "ANSI_X3.4-1968")
    assert "ANSI_X3.4-1968" in only(check_locale()).said


def test_a_cache_that_is_empty_full_or_not_where_it_should_be(monkeypatch, tmp_path):
    now, old = tmp_path / "kernels-new", tmp_path / "kernels-old"
    now.mkdir()
    old.mkdir()
    monkeypatch.setenv("OVAFLOW_CACHE", str(tmp_path))
    monkeypatch.setattr(storage, "cache_directory", lambda: now)
    assert "the first run compiles" in only(check_cache()).said
    (now / "a.nbc").write_bytes(b"x" * 1_000_000)
    with open(old / "b.nbc", "wb") as file:
        file.truncate(300_000_000)
    here, stale = check_cache()
    assert (here.verdict, "1 compiled kernels, 1 MB" in here.said) == (Verdict.OK, True)
    assert (stale.verdict, "1 folders of other versions, 300 MB" in stale.said) == (Verdict.WARN, True)
    monkeypatch.setenv("OVAFLOW_CACHE", str(tmp_path / "elsewhere"))
    assert next(check_cache()).verdict == Verdict.WARN
