from dataclasses import replace

import numpy as np
import pytest

from ovaflow.report.gather import gather
from ovaflow.report.sweeps import read_sweeps, show_sweeps


def test_seeds_are_shown_with_mean_and_standard_deviation(runs):
    (results,) = gather(runs)
    both = [replace(run, settings={"seed": str(seed)}) for seed, run in zip((7, 2), results.runs, strict=True)]
    results = replace(results, sweeps=read_sweeps({"trees": [run.name for run in both], "elsewhere": ["other"]}, both))
    (sweep,) = show_sweeps("trees", results)
    theirs = [run.metrics["P@1"] for run in both]
    assert [row.hint for row in sweep["table"].rows[:2]] == [run.name for run in reversed(runs)]
    assert [row.name for row in sweep["table"].rows] == ["2", "7", "mean", "standard deviation"]
    ours = [row.cells[0].value for row in sweep["table"].rows]
    assert ours == pytest.approx([*theirs[::-1], np.mean(theirs), np.std(theirs, ddof=1)])
    assert not any(cell.best for row in sweep["table"].rows for cell in row.cells)
