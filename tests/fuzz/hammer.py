"""Run the compiled row parser on a corpus and mutations of it, each compared with the plain reference.

``NUMBA_BOUNDSCHECK=1 OVAFLOW_CACHE=/tmp/checked python tests/fuzz/hammer.py --seconds=3600 --seed=1 [FOLDER]``
"""

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from mutations import SEEDS, corpus, mutated
from row_parser import run


def hammer(inputs, seconds, seed):
    """Run inputs, then mutations of them until the time is over.

    Parameters
    ----------
    inputs : list of bytes
    seconds : float
    seed : int

    Returns
    -------
    collections.Counter
        Executions by outcome.

    Raises
    ------
    AssertionError
        With the input that the kernels and the reference disagree on.
    """
    random, outcomes = Random(seed), Counter()
    run(b"")
    end = time.monotonic() + seconds
    pool, waiting = list(inputs), list(inputs)
    while waiting or time.monotonic() < end:
        data = waiting.pop() if waiting else mutated(random.choice(pool), pool, random)
        try:
            outcome = run(data)
        except (AssertionError, IndexError) as error:
            raise AssertionError(f"{error}: {data!r}") from error
        outcomes[outcome] += 1
        if random.random() < 0.01:
            # walks away from the corpus, as far as errors leave something to parse
            pool[random.randrange(len(pool))] = data if outcome == 0 else random.choice(inputs)
    return outcomes


def main():
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="corpus; the committed one by default")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    inputs = [path.read_bytes() for path in options.folder.iterdir()] if options.folder else corpus()
    outcomes = hammer([*SEEDS, *inputs], options.seconds, options.seed)
    checked = "with" if os.environ.get("NUMBA_BOUNDSCHECK") == "1" else "without"
    print(f"{outcomes.total():,} executions {checked} bounds checks, by outcome: {dict(sorted(outcomes.items()))}")


if __name__ == "__main__":
    main()
