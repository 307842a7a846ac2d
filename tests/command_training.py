"""A method that is trained by its commands, in a folder."""

from collections import defaultdict

from ovaflow.cli import main

STEPS_BEFORE_SHARDS = {
    "one-vs-all": [
        "means {dataset} --output={here}/means.h5",
        "plan {dataset} --shards={n} --output={here}/plan.tsv",
    ],
    "rembrandt": [
        "embed {dataset} {embed} --output={here}/embedding.h5",
        "project {dataset} --embedding={here}/embedding.h5 {project} --output={here}/projected.h5",
        "tune-decoder {here}/projected.h5 --dataset={dataset} --embedding={here}/embedding.h5 {tune}"
        " --output={here}/decoder.json",
    ],
}
SHARD_INPUTS = {
    "one-vs-all": "{dataset} --means={here}/means.h5 --plan={here}/plan.tsv",
    "rembrandt": "{here}/projected.h5 --tuned={here}/decoder.json --shards={n}",
}
MERGE_INPUTS = {"rembrandt": "--projected={here}/projected.h5 --tuned={here}/decoder.json"}


class CommandTraining:
    """Steps by step; ``options`` are those of embed, project, tune and train."""

    def __init__(self, method, dataset, here, n=1, **options) -> None:
        self.method = method
        self.n = n
        self.here = here
        self.names = defaultdict(str, dataset=dataset, here=here, n=n, **options)
        here.mkdir(exist_ok=True)
        for line in STEPS_BEFORE_SHARDS.get(method, []):
            self.run(line)

    def run(self, line, status=0) -> None:
        assert main(line.format_map(self.names).split()) == status

    def shard(self, number, *options, name=None, status=0) -> None:
        on = SHARD_INPUTS.get(self.method, "{dataset} --shards={n}")
        more = " ".join([f"--method={self.method} --shard={number} {{train}}", *options])
        self.run(f"train-shard {on} {more} --output={{here}}/{name or number}.h5", status)

    def merge(self, numbers=None, status=0):
        shards = " ".join(
            f"{{here}}/{number}.h5" for number in (range(self.n) if numbers is None else numbers)
        )
        more = MERGE_INPUTS.get(self.method, "")
        files = "--output={here}/model.h5 --statistics={here}/training.h5"
        self.run(
            f"merge {shards} --method={self.method} --dataset={{dataset}} {more} {files}", status
        )
        return self.here / "model.h5"

    def whole(self):
        for number in range(self.n):
            self.shard(number)
        return self.merge()
