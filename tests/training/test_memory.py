"""The formula of a job's memory against the peak that the system saw."""

import math
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from ovaflow.artifacts.means import compute_means, write_means
from ovaflow.data.dataset import Split, open_dataset, write_dataset
from ovaflow.solver.losses import LOSSES
from ovaflow.sparse.csr import CSR, from_scipy
from ovaflow.training.estimate import touched_by
from ovaflow.training.fast_path import FAST_PATHS
from ovaflow.training.memory import Shape, Touched, job_memory, megabytes_to_request, requested_megabytes
from ovaflow.training.plan import write_plan

N, D, LABELS, PER_ROW = 150_000, 40_000, 64, 12

PROGRAM = """
import sys
from ovaflow.cli import main
status = main(sys.argv[1:])
print("peak", *[line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")])
sys.exit(status)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Dataset, means and plan of random instances with 12 words each, popular words first."""
    rng = np.random.default_rng(0)
    # a rising number is added, so that no word stands twice
    words = np.sort((D - 1 - PER_ROW) * rng.random((N, PER_ROW)) ** 3, axis=1).astype(np.int32)
    words += np.arange(PER_ROW, dtype=np.int32)
    words = np.hstack([words, np.full((N, 1), D - 1, np.int32)])
    values = np.full(words.size, 1 / math.sqrt(PER_ROW), np.float32)
    X = CSR(values, words.ravel(), np.arange(0, words.size + 1, PER_ROW + 1), D)
    Y = np.zeros((N, LABELS), bool)
    Y[rng.integers(0, N, 20 * LABELS), np.arange(20 * LABELS) % LABELS] = True
    split = Split(X, from_scipy(Y.astype(np.float32)))
    folder = tmp_path_factory.mktemp("memory")
    names = [f"label {j}" for j in range(LABELS)]
    write_dataset(folder / "dataset.h5", split, Split(X, split.Y), names, [], {"bias": 1.0})
    dataset = open_dataset(folder / "dataset.h5")
    write_means(folder / "means.h5", compute_means(dataset.train.X, dataset.positives), dataset.checksum)
    write_plan(folder / "plan.tsv", [np.arange(LABELS)], np.ones(LABELS))
    # compiling takes memory that jobs of a workflow do not need, whose kernels are compiled before
    peak_of_training(folder)
    return folder


def peak_of_training(folder, *options):
    """Bytes of a job of its own, and the number of its weights."""
    inputs = [str(folder / "dataset.h5"), f"--means={folder / 'means.h5'}", f"--plan={folder / 'plan.tsv'}"]
    command = [sys.executable, "-c", PROGRAM, "train-shard", *inputs, "--shard=0", *options]
    # no labels that an earlier job finished
    command += [f"--output={tempfile.mkdtemp(dir=folder)}/shard.h5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return 1024 * int(done.stdout.split()[-1]), int(done.stdout.split(" weights")[0].split()[-1].replace(",", ""))


@pytest.mark.parametrize(("loss", "threads"), [("squared-hinge", 1), ("squared-hinge", 2), ("logistic", 1)])
def test_formula_agrees_with_the_peak_of_a_job(folder, loss, threads):
    options = [f"--threads={threads}", f"--loss={loss}"]
    # compiled before it is measured
    peak_of_training(folder, *options)
    theirs, weights = peak_of_training(folder, *options)
    dataset = open_dataset(folder / "dataset.h5")
    counts = np.diff(dataset.positives.indptr)
    touched = touched_by(dataset.train.X, counts, counts > 0, threads, FAST_PATHS[LOSSES[loss]])
    ours = job_memory(Shape.of(dataset), threads, LABELS, weights, touched).total
    assert theirs <= ours <= 1.3 * theirs
    assert 1e6 * requested_megabytes(folder / "dataset.h5", threads, 1, loss=loss) > theirs


@pytest.mark.parametrize("loss", LOSSES)
def test_formula_agrees_with_the_peak_of_an_l1_job(folder, loss):
    options = ["--regularization=l1", f"--loss={loss}"]
    # compiled before it is measured
    peak_of_training(folder, *options)
    theirs, weights = peak_of_training(folder, *options)
    touched = Touched(0, 0, 0, screened=False, transposed=True)
    ours = job_memory(Shape.of(open_dataset(folder / "dataset.h5")), 1, LABELS, weights, touched).total
    assert theirs <= ours <= 1.3 * theirs
    assert 1e6 * requested_megabytes(folder / "dataset.h5", 1, 1, loss=loss) > theirs


def test_more_of_anything_takes_more_memory():
    shape, touched = Shape(100_000, 50_000, 3_000_000, 1000, 20_000), Touched(5000, 20_000, 300_000)
    usual = job_memory(shape, 1, 1000, 10_000_000, touched).total
    for field in Shape._fields:
        assert job_memory(shape._replace(**{field: 2 * getattr(shape, field)}), 1, 1000, 10**7, touched).total > usual
    assert job_memory(shape, 2, 1000, 10**7, touched).total > usual
    assert job_memory(shape, 1, 1000, 10**8, touched).total > usual + 14 * 9 * 10**7
    assert job_memory(shape, 1, 1000, 10**7, touched, pretrained=True).total == usual + 8 * 10**7
    assert megabytes_to_request(job_memory(shape, 1, 1000, 10**7, touched)) * 1e6 > usual


def test_without_screen_there_is_no_second_copy_of_the_features():
    shape = Shape(100_000, 50_000, 3_000_000, 1000, 20_000)
    plain = job_memory(shape, 4, 0, 0, Touched(0, 0, 0, screened=False))
    assert plain.screen == 0
    assert plain.thread == 4 * (6 * 100_000 + 7 * 50_000)
