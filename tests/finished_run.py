"""A finished run of every method, made by commands, and functions that read its files."""

import contextlib
import io
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import h5py
from commands import ovaflow, split_words
from records import read_records, write_records
from tiny_table import write_table

from ovaflow.cli import main

STEPS = """
means {dataset} --output={means}
label-tree {dataset} --output={tree}
root {dataset} --output={root}
plan {dataset} --shards=2 --label-tree={tree} --output={plan}
train-shard {dataset} --means={means} --plan={plan} --shard=0 --initialization=label-tree \
    --label-tree={tree} --root={root} --output={shard0}
train-shard {dataset} --means={means} --plan={plan} --shard=1 --initialization=label-tree \
    --label-tree={tree} --root={root} --output={shard1}
merge {shard0} {shard1} --dataset={dataset} --output={model} --statistics={training}
index {model}
hold-out {dataset} --fraction=0.6 --output={held}
means {held} --output={held_means}
plan {held} --shards=1 --output={held_plan}
train-shard {held} --means={held_means} --plan={held_plan} --shard=0 --output={held_shard}
merge {held_shard} --dataset={held} --output={held_model} --statistics={held_training}
predict {held_model} --dataset={held} --top-k=50 --output={held_predictions}
rerank {model} --dataset={dataset} --held-out={held} --predictions={held_predictions} \
    --output={reranker}
predict {model} --dataset={dataset} --reranker={reranker} --output={predictions}
evaluate {predictions} --dataset={dataset} --model={model} --training={training} \
    --output={metrics} --analysis={analysis}
reliability {predictions} --dataset={dataset} --reranker={reranker} --output={reliability}
train-shard {dataset} --method=fastxml --trees=3 --output={tree_shard}
merge {tree_shard} --method=fastxml --dataset={dataset} --output={forest} \
    --statistics={forest_training}
predict {forest} --dataset={dataset} --output={forest_predictions}
evaluate {forest_predictions} --dataset={dataset} --model={forest} --training={forest_training} \
    --output={forest_metrics}
embed {dataset} --rank=4 --output={embedding}
project {dataset} --embedding={embedding} --output={projected}
tune-decoder {projected} --dataset={dataset} --embedding={embedding} --C=0.5 --C=1 --output={tuned}
train-shard {projected} --method=rembrandt --tuned={tuned} --output={decoder}
merge {decoder} --method=rembrandt --tuned={tuned} --projected={projected} --dataset={dataset} \
    --output={embedded} --statistics={embedded_training}
predict {embedded} --dataset={dataset} --output={embedded_predictions}
evaluate {embedded_predictions} --dataset={dataset} --model={embedded} \
    --training={embedded_training} --output={embedded_metrics}
describe-embedding {embedding} --dataset={dataset} --output={described}
""".strip().splitlines()

ARTIFACT_PATHS = {
    "answers": "answers.jsonl",
    "plan": "msi/shards.tsv",
    "shard0": "msi/shards/0.h5",
    "shard1": "msi/shards/1.h5",
    "model": "msi/model.h5",
    "training": "msi/training.h5",
    "index": "msi/model.index.h5",
    "predictions": "msi/predictions.h5",
    "metrics": "msi/metrics.json",
    "analysis": "msi/analysis.json",
    "reranker": "msi/reranker.h5",
    "reliability": "msi/reliability.json",
    "held_plan": "held/shards.tsv",
    "tree": "label_tree.h5",
    "forest": "forest/model.h5",
    "forest_training": "forest/training.h5",
    "tuned": "decoder.json",
    "forest_predictions": "forest/predictions.h5",
    "embedded": "embedded/model.h5",
    "embedded_training": "embedded/training.h5",
    "embedded_predictions": "embedded/predictions.h5",
    "forest_metrics": "forest/metrics.json",
    "embedded_metrics": "embedded/metrics.json",
    "described": "embedded/embedding.json",
    "folds": "msi/folds.json",
    "doubts": "msi/doubts.csv",
    "chosen_prune": "msi/chosen_prune.json",
}
"""Paths of artifacts that are not NAME.h5."""

OUTPUT_OPTION = re.compile(r"--(?:output|statistics|analysis)=\{(\w+)\}")


@dataclass
class CommandResult:
    """Status and standard error of a command that has ended."""

    status: int
    written: str

    @property
    def refused(self) -> bool:
        """True if it wrote one line of error and ended with status 2."""
        errors = re.findall("^ovaflow: error: ", self.written, re.MULTILINE)
        return self.status == 2 and len(errors) == 1 and "Traceback" not in self.written


def run_command(*words) -> CommandResult:
    """Run a command of ovaflow in this process."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    errors = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = main(split_words(words))
    return CommandResult(status, errors.getvalue())


class RunFolder:
    """Folder of the artifacts of a run, which are found by their names in STEPS."""

    def __init__(self, path) -> None:
        self.path = Path(path)

    def copy(self, path) -> Self:
        shutil.copytree(self.path, path)
        return type(self)(path)

    def __getitem__(self, name) -> Path:
        return self.path / ARTIFACT_PATHS.get(name, f"{name}.h5")

    def words(self, step, **instead) -> list[str]:
        """Return the words of a step, with the paths of artifacts or others ``instead``."""
        paths = {}
        for name in re.findall(r"\{(\w+)\}", step):
            paths[name] = instead.get(name, self[name])
        return [word.format(**paths) for word in step.split()]


def list_inputs(step) -> list[str]:
    """List the names of the files that a step reads."""
    outputs = OUTPUT_OPTION.findall(step)
    return [name for name in re.findall(r"\{(\w+)\}", step) if name not in outputs]


def make_output_paths(step, folder) -> dict[str, Path]:
    """Make paths in another folder for the files that a step writes."""
    return {
        name: folder / ARTIFACT_PATHS.get(name, f"{name}.h5")
        for name in OUTPUT_OPTION.findall(step)
    }


def read_report_page(path) -> str:
    """Read a page of the report without the minute at which it was written."""
    return re.sub(r"\d\d:\d\d UTC", "", path.read_text(encoding="utf-8"))


def read_artifact(path) -> str | dict:
    """Read the content of an artifact without times and memory."""
    if path.suffix != ".h5":
        text = re.sub(r'"\w*(seconds|rss_bytes|checksum)": [^,\n}]*', "", path.read_text())
        return re.sub(r"# checksum .*", "", text)
    values = {}

    def add(name, item) -> None:
        if isinstance(item, h5py.Dataset):
            values[name] = item[()].tobytes()
        for key, value in item.attrs.items():
            values[f"{name}/{key}"] = value

    with h5py.File(path) as file:
        add("", file)
        file.visititems(add)
    values |= json.loads(values.pop("/parameters"))
    varying = re.compile("seconds|rss_bytes|checksum|xxh3|/inputs")
    return {name: value for name, value in values.items() if not varying.search(name)}


def write_table_with_pairs(path, rows) -> None:
    """Write a table whose texts have one more label, which similar texts have, but which depends on
    no sum over words.
    """
    write_table(path, rows)
    records = read_records(path)
    for number, record in enumerate(records):
        left = number % 4
        right = number // 4 % 4
        record["text"] += f" left{left}" * 9 + f" right{right}" * 9
        record["labels"] += f"|both {(left + right) % 4}"
    write_records(path, records)


def make_finished_run(path, rows, seed) -> None:
    """Make a dataset of a table, and run all STEPS."""
    folder = RunFolder(path)
    folder.path.mkdir()
    write_table_with_pairs(folder.path / "records.csv", rows)
    prepare = f"prepare --format=csv --train={folder.path}/records.csv --label-separator=|".split()
    ovaflow(prepare, f"--seed={seed}", f"--output={folder['dataset']}")
    for step in STEPS:
        ovaflow(folder.words(step))


def make_run_with_every_method(make_once) -> RunFolder:
    """Make a finished run of every method, once for all tests."""

    def make(folder) -> None:
        make_finished_run(folder / "tiny", 1150, 0)

    return RunFolder(make_once("every-method", make) / "tiny")
