"""Grow a corpus under atheris: the row parser's functions as plain Python, whose branches guide libFuzzer.

``python tests/fuzz/grow.py FOLDER [options of libFuzzer]``
"""

import sys
import types
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

# compiled kernels tell nothing about their branches
plain = types.ModuleType("ovaflow.sparse.jit")
plain.kernel = plain.strict_kernel = lambda function: function
sys.modules["ovaflow.sparse.jit"] = plain

with atheris.instrument_imports(include=["ovaflow.data.readers.row_kernels", "ovaflow.data.readers.number_kernels"]):
    from ovaflow.data.readers import number_kernels, row_kernels

from random import Random  # noqa: E402

import row_parser  # noqa: E402
from mutations import PIECES, SEEDS, mutated  # noqa: E402

assert isinstance(row_kernels.parse_lines, types.FunctionType)
assert isinstance(number_kernels.decimal_number, types.FunctionType)


def mutate(data, most, seed):
    """Ours half of the time, libFuzzer's own otherwise."""
    if seed % 2:
        return mutated(data, SEEDS, Random(seed))[:most]
    return atheris.Mutate(data, most)


def main():
    """Run libFuzzer on FOLDER."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate([*SEEDS, *(bytes([k]) + piece for piece in PIECES for k in range(4))]):
        (folder / f"seed{number}").write_bytes(seed)
    # libFuzzer's limit would count the memory of whoever started this
    options = [f"-max_len={row_parser.LONGEST}", "-rss_limit_mb=0", *sys.argv[2:]]
    atheris.Setup([sys.argv[0], str(folder), *options], row_parser.run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
