"""Which records to label next: quality as 600 labelled records become 1,100, chosen by expected errors or at random.

    python benchmarks/label_next.py FOLDER RECORDS.csv TEST.csv [SEEDS]   # kirjastonhoitaja, 5 seeds: 10 minutes
    python benchmarks/label_next.py mean FOLDER > label-next.csv          # means over seeds
    python docs/make/figures.py label-next.csv

Both tables have columns id, text and labels, which ``|`` separates. RECORDS.csv is what could be labelled: a person is
played by its labels. FOLDER/SEED-WAY.jsonl has a line for each round.
"""

import csv
import json
import random
import statistics
import sys
from pathlib import Path

from ovaflow.cli import main

START, ROUNDS, MORE = 600, 5, 100
WAYS = ("random", "expected errors", "first probability")
MEASURES = ("P@1", "P@5", "F1 of labels that fit")

STEPS = """
prepare --format=csv --train=labelled.csv --test=test.csv --label-separator=| --output=dataset.h5
hold-out dataset.h5 --fraction=0.4 --output=held.h5
means NAME.h5 --output=NAME-means.h5
plan NAME.h5 --shards=1 --output=NAME.tsv
train-shard NAME.h5 --means=NAME-means.h5 --plan=NAME.tsv --shard=0 --output=NAME-0.h5
merge NAME-0.h5 --dataset=NAME.h5 --output=NAME/model.h5 --statistics=NAME-t.h5
predict held/model.h5 --dataset=held.h5 --top-k=50 --output=held-predictions.h5
rerank dataset/model.h5 --dataset=dataset.h5 --held-out=held.h5 --predictions=held-predictions.h5 \
--output=dataset/reranker.h5
evaluate --model=dataset/model.h5 test.csv --output=evaluation.json
"""


def train(folder, labelled):
    """Train on labelled records, and measure on the test set."""
    _write(folder / "labelled.csv", labelled)
    for step in filter(None, STEPS.splitlines()):
        for name in ("dataset", "held") if "NAME" in step else ("",):
            words = step.replace("NAME", name).split()
            files = ("labelled.csv", "test.csv", "evaluation.json", ".h5", ".tsv")
            at = [_placed(word, folder) if word.endswith(files) else word for word in words]
            if main(at):
                sys.exit(f"failed: {' '.join(at)}")
    [entry] = json.loads((folder / "evaluation.json").read_text())["models"]
    return {name: entry["metrics"][name] for name in MEASURES}


def _placed(word, folder):
    option, equals, path = word.rpartition("=")
    return f"{option}{equals}{folder / path}"


def _write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "text", "labels"), *rows])


def _read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [(row["id"], row["text"], row["labels"]) for row in csv.DictReader(file)]


def choose(folder, way, rest, draw):
    """Ids of the records that a person labels next."""
    if way == "random":
        return [row[0] for row in draw.sample(rest, MORE)]
    model, pool, output = (str(folder / name) for name in ("dataset/model.h5", "pool.csv", "next.jsonl"))
    _write(pool, [(name, text, "") for name, text, _ in rest])
    first = way == "first probability"
    options = ["--top-k=1"] if first else [f"--review={MORE}"]
    main(["predict", model, pool, *options, f"--output={output}"])
    answers = [json.loads(line) for line in Path(output).read_text("utf-8").splitlines()]
    if first:
        answers.sort(key=lambda answer: answer["labels"][0]["score"])
    return [answer["id"] for answer in answers[:MORE]]


def play(folder, records, test, seed, way):
    """The rounds of one way to choose, a line each."""
    path = folder / f"{seed}-{way.replace(' ', '-')}.jsonl"
    if path.exists():
        return
    work, draw = folder / "work", random.Random(seed)
    for name in ("dataset", "held"):
        (work / name).mkdir(parents=True, exist_ok=True)
    _write(work / "test.csv", test)
    order = draw.sample(records, len(records))
    labelled, rest, lines = order[:START], order[START:], []
    for _ in range(ROUNDS + 1):
        measured = train(work, labelled)
        amount = sum(len(labels.split("|")) for _, _, labels in labelled)
        lines.append(json.dumps({"records": len(labelled), "labels": amount, **measured}))
        chosen = set(choose(work, way, rest, draw))
        labelled = labelled + [row for row in rest if row[0] in chosen]
        rest = [row for row in rest if row[0] not in chosen]
    path.write_text("".join(f"{line}\n" for line in lines))


def mean(folder):
    """Print means over seeds as a table, and to standard error the gains over random at the end."""
    table, last = csv.writer(sys.stdout), {}
    table.writerow(["way", "records", "labels", *MEASURES])
    for way in WAYS:
        paths = sorted(folder.glob(f"*-{way.replace(' ', '-')}.jsonl"))
        rounds = [list(map(json.loads, path.read_text().splitlines())) for path in paths]
        for lines in zip(*rounds, strict=True):
            columns = ("records", "labels", *MEASURES)
            means = [statistics.mean(line[name] for line in lines) for name in columns]
            table.writerow([way, *(f"{value:.6g}" for value in means)])
        last[way] = [lines[-1] for lines in rounds]
    for way in WAYS[1:]:
        for name in MEASURES:
            pairs = zip(last[way], last["random"], strict=True)
            gains = [100 * (ours[name] - theirs[name]) for ours, theirs in pairs]
            error = statistics.stdev(gains) / len(gains) ** 0.5
            print(f"{way} less random, {name}: {statistics.mean(gains):+.1f} ± {error:.1f}", file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1] == "mean":
        mean(Path(sys.argv[2]))
    else:
        folder, records, test = Path(sys.argv[1]), _read(sys.argv[2]), _read(sys.argv[3])
        for seed in range(int(sys.argv[4]) if len(sys.argv) > 4 else 5):
            for way in WAYS:
                play(folder, records, test, seed, way)
