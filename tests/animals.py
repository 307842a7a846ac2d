"""A vocabulary in three languages, with schemes, a collection and a type, and a corpus for it."""

from pathlib import Path

from synthetic import train_model_file

from ovaflow.cli import main
from ovaflow.dataset.dataset import open_dataset

HERE = "http://example.org/"
"""Namespace of the subjects."""

VOCABULARY = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/> .
:pets a skos:Collection ; skos:member :cats, :dogs .
:cats a skos:Concept ; skos:inScheme :animals ;
  skos:prefLabel "kissat"@fi, "katter"@sv, "cats"@en .
:dogs a skos:Concept ; skos:inScheme :animals ; skos:prefLabel "koirat"@fi, "dogs"@en .
:birds a skos:Concept ; skos:inScheme :animals ;
  skos:prefLabel "linnut"@fi, "fåglar"@sv, "birds"@en .
:city a skos:Concept, :Place ; skos:inScheme :places ;
  skos:prefLabel "Helsinki"@fi, "Helsingfors"@sv .
"""

RECORDS = (
    ("black cats purr", "cats"),
    ("cats purr loudly in town", "cats city"),
    ("dogs bark loudly", "dogs"),
    ("black dogs bark", "dogs"),
    ("birds sing", "birds"),
    ("an old harbour town", "city"),
)


def write_animals(folder) -> list[str]:
    """Write the files; return the words of the ``ovaflow prepare`` command that reads them."""
    (folder / "animals.ttl").write_text(VOCABULARY, encoding="utf-8")
    lines = []
    for text, names in RECORDS:
        uris = " ".join(f"<{HERE}{name}>" for name in names.split())
        lines.append(f"{text}\t{uris}\n")
    (folder / "animals.tsv").write_text("".join(lines) * 2, encoding="utf-8")
    return [
        "prepare",
        "--format=annif",
        f"--train={folder}/animals.tsv",
        f"--test={folder}/animals.tsv",
        f"--vocabulary={folder}/animals.ttl",
        "--language=en",
        "--min-df=1",
        "--max-df=1.0",
    ]


def train_animals(folder, *options) -> Path:
    """Train on the corpus, with further options of ``ovaflow prepare``; return the model file."""
    assert main([*write_animals(folder), *options, f"--output={folder}/animals.h5"]) == 0
    return train_model_file(folder / "model.h5", open_dataset(folder / "animals.h5"))
