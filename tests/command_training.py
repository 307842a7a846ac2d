"""Training of a method by its commands, in a folder."""

from collections import defaultdict
from pathlib import Path

from ovaflow.cli import main

STEPS_BEFORE_SHARDS = {
    "one-vs-all": [
        "means {dataset} --output={here}/means.h5",
        "plan {dataset} --shards={n} --output={here}/plan.tsv",
    ],
    "rembrandt": [
        "embed {dataset} {embed} --output={here}/embedding.h5",
        "project {dataset} --embedding={here}/embedding.h5 {project} --output={here}/projected.h5",
        "tune-decoder {here}/projected.h5 --dataset={dataset} --embedding={here}/embedding.h5"
        " {tune} --output={here}/decoder.json",
    ],
}
SHARD_INPUTS = {
    "one-vs-all": "{dataset} --means={here}/means.h5 --plan={here}/plan.tsv",
    "rembrandt": "{here}/projected.h5 --tuned={here}/decoder.json --shards={n}",
}
MERGE_INPUTS = {"rembrandt": "--projected={here}/projected.h5 --tuned={here}/decoder.json"}


class CommandTraining:
    """Steps of the training of a method.

    Parameters
    ----------
    method : str
        Name of the method.
    dataset : path-like
        Dataset file.
    here : Path
        Folder of the files.
    n : int
        Number of shards.
    **options : str
        Options of the steps ``embed``, ``project``, ``tune`` and ``train``.
    """

    def __init__(self, method, dataset, here, n=1, **options) -> None:
        self.method = method
        self.n = n
        self.here = here
        self.names = defaultdict(str, dataset=dataset, here=here, n=n, **options)
        here.mkdir(exist_ok=True)
        for line in STEPS_BEFORE_SHARDS.get(method, []):
            self.run(line)

    def run(self, line, status=0) -> None:
        """Run a command, whose words have names of files and options in braces."""
        assert main(line.format_map(self.names).split()) == status

    def shard(self, number, *options, name=None, status=0) -> None:
        """Train a shard to NAME.h5, by default the number of the shard."""
        inputs = SHARD_INPUTS.get(self.method, "{dataset} --shards={n}")
        words = [
            f"train-shard {inputs}",
            f"--method={self.method}",
            f"--shard={number}",
            "{train}",
            *options,
            f"--output={{here}}/{name or number}.h5",
        ]
        self.run(" ".join(words), status)

    def merge(self, numbers=None, status=0) -> Path:
        """Merge shards, by default all of them; return the model file."""
        if numbers is None:
            numbers = range(self.n)
        words = [
            "merge",
            *(f"{{here}}/{number}.h5" for number in numbers),
            f"--method={self.method}",
            "--dataset={dataset}",
            MERGE_INPUTS.get(self.method, ""),
            "--output={here}/model.h5",
            "--statistics={here}/training.h5",
        ]
        self.run(" ".join(words), status)
        return self.here / "model.h5"

    def train(self) -> Path:
        """Train all shards and merge them; return the model file."""
        for number in range(self.n):
            self.shard(number)
        return self.merge()
