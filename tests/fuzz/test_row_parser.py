"""Some seconds of what ``grow.py`` and ``hammer.py`` do for hours, and that they would notice mistakes."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from hammer import hammer  # noqa: E402
from mutations import SEEDS, corpus  # noqa: E402
from row_parser import run  # noqa: E402

from ovaflow.data.readers.number_kernels import GOOD  # noqa: E402
from ovaflow.data.readers.row_kernels import FEATURES, HIGHEST, LINES, ROWS, parse_lines  # noqa: E402

OUTCOMES = {0, 1, 2, 10, 11, 12, 13, 14, 15}


def test_hammered_kernels_equal_the_reference():
    outcomes = hammer([*SEEDS, *corpus()], seconds=3, seed=0)
    assert set(outcomes) == OUTCOMES
    assert outcomes.total() > 2 * len(corpus())


def _accepting(text, end, bounds, rows, cursor):
    parse_lines(text, end, bounds, rows, cursor)
    return GOOD, end


def _with_wrong_label(text, end, bounds, rows, cursor):
    found = parse_lines(text, end, bounds, rows, cursor)
    rows.labels[0] ^= 1
    return found


def _with_wrong_value(text, end, bounds, rows, cursor):
    found = parse_lines(text, end, bounds, rows, cursor)
    rows.values[0] *= 1.0000001
    return found


def _with_wrong_count(slot):
    def wrong(text, end, bounds, rows, cursor):
        found = parse_lines(text, end, bounds, rows, cursor)
        cursor[slot] -= 1
        return found

    return wrong


def _behind(text, end, bounds, rows, cursor):
    rows.values.base[len(rows.values)] = 0
    return parse_lines(text, end, bounds, rows, cursor)


@pytest.mark.parametrize(
    "wrong",
    [
        _accepting,
        _with_wrong_label,
        _with_wrong_value,
        _behind,
        *map(_with_wrong_count, (LINES, ROWS, FEATURES, HIGHEST)),
    ],
)
def test_mistakes_are_noticed(wrong):
    noticed = 0
    for data in [*SEEDS, *corpus()]:
        try:
            run(data, wrong)
        except (AssertionError, IndexError, ValueError):
            noticed += 1
    assert noticed >= 5


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed")
def test_coverage_guided(tmp_path):
    for number, data in enumerate(corpus()):
        (tmp_path / str(number)).write_bytes(data)
    command = [sys.executable, HERE / "grow.py", tmp_path, "-max_total_time=5", "-seed=1", "-print_final_stats=1"]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"TMPDIR": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(re.search(r"number_of_executed_units: (\d+)", done.stderr)[1]) > 1000
    assert int(re.findall(r"cov: (\d+)", done.stderr)[-1]) >= 130
