import pytest
import yaml
from commands import ovaflow
from tiny_table import write_table

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]


def test_a_table_is_all_that_a_person_needs(place, monkeypatch) -> None:
    (place.folder / "my.yaml").unlink()
    write_table(place.folder / "records.csv", columns=("title", "subjects"))
    columns = ["--text-column=title", "--labels-column=subjects", "--label-separator=|"]
    arguments = ["records.csv", *columns, "--cores=2"]
    written = place.ovaflow("train", arguments, "--until", "prepare_dataset")
    assert "config: records.yaml\n" in written
    # there is no model yet
    assert "ovaflow predict" not in written
    assert (place.folder / "results/records/dataset.h5").is_file()
    config = place.folder / "records.yaml"
    settings = yaml.safe_load(config.read_text())
    assert settings["datasets"]["records"]["train"] == "records.csv"
    ours = config.read_text()
    config.write_text(f"{ours}train: {{shards: 2}}\n")
    monkeypatch.chdir(place.folder)
    for more in ([], ["--dry-run"]):
        said = ovaflow("train", arguments, more, status=2)
        assert "records.yaml: differs from the config of this command" in said
        assert "run it as it is: ovaflow run records.yaml" in said
    assert "shards: 2" in config.read_text()
    monkeypatch.setattr("os.execv", lambda *_: None)
    ovaflow("train", arguments, "--force")
    assert config.read_text() == ours


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["corpus"], {"format": "annif", "train": "corpus"}),
        (
            ["corpus.tsv", "--vocabulary=v.ttl", "--language=fi", "--test=corpus"],
            {
                "format": "annif",
                "train": "corpus.tsv",
                "test": "corpus",
                "vocabulary": "v.ttl",
                "language": "fi",
            },
        ),
        (
            ["corpus.tsv", "--vocabulary=v.ttl", "--format=text-tsv"],
            {"format": "text-tsv", "train": "corpus.tsv", "vocabulary": "v.ttl"},
        ),
    ],
)
def test_annifs_corpora(tmp_path, monkeypatch, arguments, expected) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    for name in ("corpus/a.txt", "corpus.tsv", "v.ttl"):
        (tmp_path / name).touch()
    assert (
        yaml.safe_load(ovaflow("train", arguments, "--print-config"))["datasets"]["corpus"]
        == expected
    )


def test_a_folder_of_parts(place) -> None:
    (place.folder / "my.yaml").unlink()
    part = place.folder / "parts/part-00000.csv"
    part.parent.mkdir()
    (place.folder / "records.csv").rename(part)
    (part.parent / "_SUCCESS").touch()
    arguments = ["train", "parts", "--label-separator=|", "--cores=2", "--until=prepare_dataset"]
    place.ovaflow(*arguments)
    assert (place.folder / "results/parts/dataset.h5").is_file()
    assert "prepare_dataset " not in place.ovaflow(*arguments, "--dry-run")
    # the time of the folder stays
    with part.open("a") as file:
        file.write(part.read_text().splitlines()[-1] + "\n")
    assert "prepare_dataset " in place.ovaflow(*arguments, "--dry-run")


def test_a_pattern_that_the_shell_expands_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).touch()
    written = ovaflow("train", "a.csv", "b.csv", "c.csv", "--print-config", status=2)
    assert "give one DATA; several are a pattern in quotes, '*.csv'" in written
    assert written.count("\n") == 1


def test_a_dry_run_leaves_nothing(place) -> None:
    (place.folder / "my.yaml").unlink()
    written = place.ovaflow(
        "train", "records.csv", "--label-separator=|", "--dry-run", "--output=elsewhere"
    )
    assert f"train: {place.folder / 'records.csv'}" in written
    assert "train_shard " in written
    assert {path.name for path in place.folder.iterdir()} == {"records.csv", ".snakemake"}
