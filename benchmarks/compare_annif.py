"""Annif's backends compared with ovaflow on one corpus.

``python benchmarks/compare_annif.py --help``

Each command runs by itself on one core. Its figures stay in the working
folder, so that a second call goes on where the first ended.
"""

import argparse
import csv
import gzip
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import requests
from tables import align

_SNOWBALL = {"fi": "finnish", "de": "german", "en": "english"}
_BACKENDS = {
    "tfidf": {},
    "svc": {},
    "parabel": {"backend": "omikuji"},
    "bonsai": {
        "backend": "omikuji",
        "cluster_balanced": "False",
        "cluster_k": "100",
        "max_depth": "3",
    },
}
_RUNS = {"scores": {"rerank": 0}, "default": {}, "auto": {"C": "auto", "rerank": 0}}
_DIGITS = {"seconds": 0, "megabytes": 0, "milliseconds": 1}
"""Decimals of the costs in the table."""
_METRICS = ("F1@5", "NDCG", "Precision@1", "Precision@3", "Precision@5")
_N_TEXTS = 200
"""Number of texts that a service is asked for."""


def main() -> None:
    """Train and evaluate all, then ask each for one text at a time; print a table."""
    options = _parse_options()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    names = _name_projects(options)
    _write_corpus(options.data, work, options.documents)
    _write_projects(work, options.language, names)
    environment = os.environ | {
        "ANNIF_PROJECTS": str(work / "projects.cfg"),
        "ANNIF_DATADIR": str(work / "annif"),
    }
    if not (work / "annif" / "vocabs").exists():
        _timed([options.annif, "load-vocab", "v", "vocab.csv"], work, environment)
    rows = [["method", *_METRICS, "training, CPU s", "memory, MB", "one text, ms"]]
    for name in names:
        figures = _load_or_make(
            work / f"{name}.json",
            lambda name=name: _measure_annif(options.annif, work, environment, name),
        )
        rows.append(_row(name, figures))
        print(align([rows[0], rows[-1]]), flush=True)
    for name in options.runs.split():
        figures = _load_or_make(
            work / f"{name}.json", lambda name=name: _measure_ovaflow(work, name)
        )
        rows.append(_row(f"ovaflow, {name}", figures))
    print(align(rows))


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "data", type=Path, help="Folder with train_raw.tsv.gz, test_raw.tsv.gz and labels.txt.gz."
    )
    parser.add_argument("work", type=Path, help="Folder for everything that is made.")
    parser.add_argument(
        "--annif", default="annif", help="Annif's command, of an environment of its own."
    )
    parser.add_argument("--language", choices=_SNOWBALL, required=True, help="Of the texts.")
    parser.add_argument(
        "--documents", type=int, help="Test with so many of the test documents; all by default."
    )
    parser.add_argument("--backends", default=" ".join(_BACKENDS), help="Separated by spaces.")
    parser.add_argument("--analyzers", default="snowball simplemma", help="Separated by spaces.")
    parser.add_argument(
        "--runs", default="scores default auto", help="Of ovaflow: scores, default, auto."
    )
    return parser.parse_args()


def _name_projects(options: argparse.Namespace) -> list[str]:
    """Name every backend with every analyzer, and the ensemble of each analyzer's."""
    backends = options.backends.split()
    names = []
    for analyzer in options.analyzers.split():
        names += [f"{backend}-{analyzer}" for backend in (*backends, "ensemble")]
    return names


def _write_corpus(data: Path, work: Path, documents: int | None) -> None:
    """Write a corpus as Annif's files: a vocabulary in CSV, documents in short-text TSV."""
    if (work / "vocab.csv").exists():
        return
    vocabulary = []
    with gzip.open(data / "labels.txt.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            uri, name = line.rstrip("\n").split("\t")
            vocabulary.append((uri.strip("<>").replace("gnd:", "https://d-nb.info/gnd/"), name))
    for part in ("train", "test"):
        with (
            gzip.open(data / f"{part}_raw.tsv.gz", "rt", encoding="utf-8") as lines,
            open(work / f"{part}.tsv", "w", encoding="utf-8") as corpus,
        ):
            if part == "test":
                lines = islice(lines, documents)
            for line in lines:
                ids, text = line.rstrip("\n").split("\t", 1)
                subjects = [f"<{vocabulary[int(label)][0]}>" for label in ids.split(",")]
                corpus.write(f"{text}\t{' '.join(subjects)}\n")
    with open(work / "vocab.csv", "w", encoding="utf-8", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(["uri", "label_en"])
        rows.writerows(vocabulary)


def _write_projects(work: Path, language: str, names: list[str]) -> None:
    lines = []
    for name in names:
        backend, analyzer = name.split("-")
        argument = language
        if analyzer == "snowball":
            argument = _SNOWBALL[language]
        settings = {"name": name, "language": "en", "vocab": "v", "backend": backend, "limit": 100}
        if backend == "ensemble":
            sources = [other for other in names if other.endswith(analyzer) and other != name]
            settings["sources"] = ",".join(sources)
        else:
            settings |= {"analyzer": f"{analyzer}({argument})"} | _BACKENDS[backend]
        lines.append(f"[{name}]")
        lines += [f"{key}={value}" for key, value in settings.items()]
        lines.append("")
    (work / "projects.cfg").write_text("\n".join(lines), encoding="utf-8")


def _measure_annif(annif: str, work: Path, environment: dict, name: str) -> dict:
    # ensembles are not trained
    figures = {"seconds": math.nan, "megabytes": math.nan}
    if not name.startswith("ensemble"):
        seconds, megabytes, _ = _timed(
            [annif, "train", "-j", "1", name, "train.tsv"], work, environment
        )
        figures = {"seconds": seconds, "megabytes": megabytes}
    *_, printed = _timed([annif, "eval", "-j", "1", name, "test.tsv"], work, environment)
    service = [annif, "run", "--host", "127.0.0.1", "--port", "8765"]
    with _served(service, work, environment, "http://127.0.0.1:8765") as address:
        return figures | _parse_metrics(printed) | {"milliseconds": _ask(address, name, work)}


def _measure_ovaflow(work: Path, name: str) -> dict:
    ovaflow = str(Path(sys.executable).with_name("ovaflow"))
    dataset = {
        "format": "annif",
        "train": "train.tsv",
        "test": "test.tsv",
        "vocabulary": "vocab.csv",
    }
    if name == "auto":
        dataset["features"] = "auto"
    run = {"method": "one-vs-all", "initialization": "mean-separating"} | _RUNS[name]
    config = {"datasets": {name: dataset}, "runs": {name: run}}
    (work / f"{name}.yaml").write_text(json.dumps(config), encoding="utf-8")
    seconds, megabytes, _ = _timed(
        [ovaflow, "run", f"{name}.yaml", "--cores", "1"], work, os.environ
    )
    folder = work / "results" / name / name
    predictions = work / f"{name}-10.h5"
    parts = ["--dataset", str(folder.parent / "dataset.h5"), "--output"]
    _timed(
        [ovaflow, "predict", str(folder / "model.h5"), *parts, str(predictions), "--top-k", "10"],
        work,
        os.environ,
    )
    of_model = [
        "--model",
        str(folder / "model.h5"),
        "--training",
        str(folder / "training.h5"),
        "--metrics",
        "annif",
    ]
    evaluate = [
        ovaflow,
        "evaluate",
        str(predictions),
        *of_model,
        *parts,
        str(work / f"{name}-metrics.json"),
    ]
    *_, printed = _timed(evaluate, work, os.environ)
    service = [ovaflow, "serve", str(folder / "model.h5"), "--port", "8766"]
    with _served(service, work, os.environ, "http://127.0.0.1:8766") as address:
        milliseconds = _ask(address, name, work)
    return {
        "seconds": seconds,
        "megabytes": megabytes,
        "milliseconds": milliseconds,
    } | _parse_metrics(printed)


def _timed(command: list, folder: Path, environment: dict) -> tuple[float, float, str]:
    """Run a command; return CPU seconds with all children, megabytes of the largest process, and
    its output.
    """
    log = folder / "commands.log"
    with log.open("a", encoding="utf-8") as errors:
        line = " ".join([str(word) for word in command])
        print(f"$ {line}", file=errors, flush=True)
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{line} failed: see {log}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, printed


@contextmanager
def _served(command: list, folder: Path, environment: dict, address: str) -> Iterator[str]:
    """Run a service; give its address when it answers."""
    with (folder / "service.log").open("a", encoding="utf-8") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            _wait_for(f"{address}/v1/projects", process)
            yield address
        finally:
            process.terminate()
            process.wait()


def _wait_for(url: str, process: subprocess.Popen) -> None:
    while process.poll() is None:
        try:
            requests.get(url, timeout=60).raise_for_status()
            return
        except requests.ConnectionError:
            time.sleep(0.2)
    sys.exit(f"the service at {url} ended: see service.log")


def _ask(address: str, project: str, work: Path) -> float:
    """Return the median milliseconds of a suggestion for one text, after five to warm up."""
    with (work / "test.tsv").open(encoding="utf-8") as lines:
        texts = [line.split("\t")[0] for line in islice(lines, _N_TEXTS)]
    url = f"{address}/v1/projects/{project}/suggest"
    with requests.Session() as session:
        seconds = [_time_answer(session, url, text) for text in texts]
    return 1000 * statistics.median(seconds[5:])


def _time_answer(session: requests.Session, url: str, text: str) -> float:
    began = time.perf_counter()
    session.post(url, data={"text": text}, timeout=600).raise_for_status()
    return time.perf_counter() - began


def _parse_metrics(printed: str) -> dict[str, float]:
    """Parse the metrics that Annif or ovaflow printed."""
    found = dict(re.findall(r"^(\S.*?)\s*:?\s+(\S+)$", printed, re.MULTILINE))
    return {name: float(found[name]) for name in _METRICS}


def _load_or_make(path: Path, make: Callable[[], dict]) -> dict:
    """Load figures of an earlier call, or make and keep them."""
    if not path.exists():
        path.write_text(json.dumps(make()), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def _row(name: str, figures: dict) -> list[str]:
    measured = [f"{100 * figures[metric]:.1f}" for metric in _METRICS]
    costs = [f"{figures[key]:.{digits}f}" for key, digits in _DIGITS.items()]
    return [name, *measured, *costs]


if __name__ == "__main__":
    main()
