"""Records of the shared tasks become files that ovaflow reads."""

import gzip
import json

from click.testing import CliRunner
from tibkat import main

from ovaflow.settings.config import load_config, resolve_config

SUBJECTS = [
    {"@id": "gnd:1", "sameAs": "Eisen"},
    {"@id": "gnd:2", "sameAs": ["Stahl", "Stähle"]},
    {"@id": "gnd:3", "sameAs": "Rost, Anna"},
]


def write_record(folder, name, record, subjects) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    record = {"@id": f"https://example.org/{name}", "dcterms:subject": subjects} | record
    (folder / f"{name}.jsonld").write_text(json.dumps({"@graph": [*SUBJECTS, record]}))


def test_titles_abstracts_and_all_subjects_are_kept(tmp_path) -> None:
    data = tmp_path / "repository" / "library-records-dataset" / "data"
    first = {"@id": "gnd:1"}
    second = {"@id": "gnd:2"}
    write_record(
        data / "train" / "Book",
        "b",
        {"title": ["Of steel", "Again"], "abstract": "Two\nlines"},
        first,
    )
    write_record(data / "train" / "Article", "a", {"title": "Iron and steel"}, [first, second])
    write_record(data / "dev" / "Book", "c", {"title": "Rust"}, second)
    done = CliRunner().invoke(
        main, [str(tmp_path / "repository"), str(tmp_path / "made")], catch_exceptions=False
    )
    assert "train: 2 records\ndev: 1 records\n2 subjects" in done.output
    made = tmp_path / "made"
    gnd = "http://d-nb.info/gnd"
    rows = gzip.decompress((made / "train.tsv.gz").read_bytes()).decode().splitlines()
    assert rows == [f"Iron and steel\t<{gnd}/1> <{gnd}/2>", f"Of steel Again Two lines\t<{gnd}/1>"]
    assert gzip.decompress((made / "dev.tsv.gz").read_bytes()).decode() == f"Rust\t<{gnd}/2>\n"
    assert (made / "vocabulary.tsv").read_text() == f"<{gnd}/1>\tEisen\n<{gnd}/2>\tStahl\n"
    assert (
        resolve_config(load_config(made / "tibkat.yaml"), {}).datasets["tibkat"].format == "annif"
    )
