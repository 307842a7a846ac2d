"""TIBKAT's library records, as the LLMs4Subjects shared tasks publish them, as files of ovaflow and
of Annif.

Writes train.tsv.gz and dev.tsv.gz, title and abstract with the URIs of all subjects;
vocabulary.tsv, the subjects of training records with their preferred names; and tibkat.yaml, a
config for ``ovaflow run``.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import click

GND = "http://d-nb.info/gnd/"

CONFIG = """\
datasets:
  tibkat: {format: annif, train: train.tsv.gz, test: dev.tsv.gz, vocabulary: vocabulary.tsv}
runs:
  msi: {method: one-vs-all, epsilon: 0.1, rerank: 0.2}
predict: {top_k: 20}
"""


@click.command()
@click.argument("repository", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("output", type=click.Path(file_okay=False, path_type=Path))
def main(repository, output) -> None:
    """Make corpora of the records in a copy of REPOSITORY, sciknoworg/subject-indexing-dataset."""
    output.mkdir(parents=True, exist_ok=True)
    names = {}
    for split in ("train", "dev"):
        paths = sorted((repository / "library-records-dataset" / "data" / split).rglob("*.jsonld"))
        with gzip.open(output / f"{split}.tsv.gz", "wt", encoding="utf-8") as file:
            for path in paths:
                text, subjects = read_record(path)
                if split == "train":
                    names |= subjects
                file.write(f"{text}\t{' '.join(f'<{uri}>' for uri in subjects)}\n")
        click.echo(f"{split}: {len(paths):,} records")
    with (output / "vocabulary.tsv").open("w", encoding="utf-8") as file:
        file.writelines(f"<{uri}>\t{name}\n" for uri, name in sorted(names.items()))
    (output / "tibkat.yaml").write_text(CONFIG, encoding="utf-8")
    click.echo(f"{len(names):,} subjects; now: cd {output} && ovaflow run tibkat.yaml")


def read_record(path: Path) -> tuple[str, dict[str, str]]:
    """Read the text of a record, and the names of its subjects by URI."""
    nodes = json.loads(path.read_text(encoding="utf-8"))["@graph"]
    names = {node["@id"]: node["sameAs"] for node in nodes if "sameAs" in node}
    [record] = [node for node in nodes if "title" in node]
    subjects = {}
    for subject in as_list(record.get("dcterms:subject")):
        identifier = subject["@id"].removeprefix("gnd:")
        subjects[GND + identifier] = join_lines(names[subject["@id"]])
    parts = [*as_list(record["title"]), *as_list(record.get("abstract"))]
    return " ".join([join_lines(part) for part in parts]), subjects


def as_list(value: Any) -> list:
    """Return a value of JSON-LD, which is no list if it is only one, as a list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def join_lines(text: Any) -> str:
    """Join the lines of a text, or of the first of several."""
    return " ".join(as_list(text)[0].split())


if __name__ == "__main__":
    main()
