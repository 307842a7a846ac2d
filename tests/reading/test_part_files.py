"""Tables in parts: folders and patterns of files as Spark, Hadoop, Hive and Dask write them."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from following import follow_command

from ovaflow.cli import main
from ovaflow.cli.run import guess_format
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.sources import make_input_file, read_record_batches

WORDS = ["honey", "crumpet", "kettle", "saucer"]
N_PARTS = 12
ALL_IDS = [f"{part}-{number}" for part in range(N_PARTS) for number in range(3)]
CSV = "--format=csv"


def make_rows(part) -> list[dict[str, str]]:
    """Make the three records of a part."""
    rows = []
    for number in range(3):
        word = WORDS[(part + number) % 4]
        label = "Bees" if word == "honey" else "Food"
        rows.append({"id": f"{part}-{number}", "text": f"the {word} and tea", "labels": label})
    return rows


def write_csv(rows, *, has_header=True) -> bytes:
    lines = ["id,text,labels"] if has_header else []
    lines += [",".join(row.values()) for row in rows]
    return "".join(f"{line}\n" for line in lines).encode()


def write_json_lines(rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def write_parquet(rows) -> bytes:
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), sink)
    return sink.getvalue().to_pybytes()


def write_gzipped_csv(rows) -> bytes:
    return gzip.compress(write_csv(rows))


PROGRAMS = {
    "Spark's CSV": (write_csv, "part-{:05}-8f1c-c000.csv", "csv"),
    "Spark's CSV, gzipped": (write_gzipped_csv, "part-{:05}-8f1c-c000.csv.gz", "csv"),
    "Spark's JSON": (write_json_lines, "part-{:05}-8f1c-c000.json", "jsonl"),
    "Hadoop's JSON": (write_json_lines, "part-r-{:05}", "jsonl"),
    "Hive's JSON": (write_json_lines, "{:06}_0", "jsonl"),
    "Spark's Parquet": (write_parquet, "part-{:05}-8f1c.c000.snappy.parquet", "parquet"),
    "Dask's Parquet": (write_parquet, "part.{}.parquet", "parquet"),
}


@pytest.fixture
def write_parts(tmp_path) -> Callable[..., Path]:
    """Write a folder of parts with the marks of these programs; return it."""

    def write_folder(write, name="part-{:05}.csv", n_parts=N_PARTS, folder="table") -> Path:
        path = tmp_path / folder
        path.mkdir(parents=True)
        for part in range(n_parts):
            (path / name.format(part)).write_bytes(write(make_rows(part)))
        for mark in ("_SUCCESS", "._SUCCESS.crc", ".part-00000.csv.crc"):
            (path / mark).write_bytes(b"")
        (path / "_committed_8f1c").write_text('{"added": []}')
        (path / "_metadata").write_bytes(b"PAR1")
        (path / "_temporary").mkdir()
        return path

    return write_folder


def list_ids(dataset) -> list[str]:
    """List the ids of all records, without the names of files."""
    ids = [*dataset.ids("train"), *dataset.ids("test")]
    return [each.rpartition(", ")[2] for each in ids]


LAST = "--split=last"


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_folder_is_its_parts_in_order(prepare, write_parts, tmp_path, program) -> None:
    write, name, format = PROGRAMS[program]
    folder = write_parts(write, name)
    assert guess_format(folder) == format
    read = prepare(folder, [f"--format={format}", LAST])
    assert list_ids(read.dataset) == ALL_IDS
    assert "files not read    _SUCCESS, _committed_8f1c, _metadata" in read.said


@pytest.mark.parametrize("program", PROGRAMS)
def test_predict_and_evaluate_read_a_folder(
    prepare, trained, write_parts, tmp_path, capsys, program
) -> None:
    write, name, format = PROGRAMS[program]
    folder = write_parts(write, name)
    dataset = prepare(folder, [f"--format={format}", "--min-df=1"]).dataset
    model = trained(dataset)
    predictor = Predictor.open(model)
    batches = read_record_batches(make_input_file(predictor.model, folder), predictor)
    names = [name for batch in batches for name in batch.names]
    assert names == ALL_IDS
    capsys.readouterr()
    assert main(["evaluate", f"--model={model}", str(folder)]) == 0
    assert re.search(r"records +36\b", capsys.readouterr().out)


@pytest.mark.parametrize("pattern", ["*", "part-*", "*.csv"])
def test_marks_among_the_files_of_a_pattern(prepare, write_parts, pattern) -> None:
    folder = write_parts(write_csv)
    (folder / "part-00099.csv").write_bytes(b"")
    read = prepare(folder / pattern, [CSV, LAST])
    assert list_ids(read.dataset) == ALL_IDS
    assert "part-00099.csv" in read.said


def test_names_that_a_pattern_asks_for(prepare, write_parts) -> None:
    folder = write_parts(write_csv, "_part-{:05}.csv")
    assert list_ids(prepare(folder / "_part*", [CSV, LAST]).dataset) == ALL_IDS


@pytest.mark.parametrize("empty", [b"", gzip.compress(b"", mtime=0), b"id,text,labels\n"])
def test_parts_without_records(prepare, write_parts, empty) -> None:
    folder = write_parts(write_csv)
    (folder / "part-00000.csv").write_bytes(empty)
    assert list_ids(prepare(folder, [CSV, LAST]).dataset) == ALL_IDS[3:]


def test_a_folder_without_records(prepare, write_parts) -> None:
    folder = write_parts(write_csv, n_parts=0)
    said = prepare(folder, [CSV]).said
    assert "there is no file of records; give a file, a pattern" in said


def test_an_empty_file_that_is_named_is_refused(prepare, write_parts) -> None:
    folder = write_parts(write_csv)
    (folder / "part-00001.csv").write_bytes(b"")
    assert "is empty" in prepare(folder / "part-00001.csv", [CSV]).said


def test_folders_of_partitions(prepare, write_parts) -> None:
    folder = write_parts(write_csv, folder="table/lang=en").parent
    write_parts(write_csv, folder="table/lang=fr")
    said = prepare(folder, [CSV]).said
    assert "holds folders, such as 'lang=en'" in said
    pattern = re.search("give a pattern to read their files, too: (.*)", said)[1]
    read = prepare(Path(pattern), [CSV, LAST])
    assert list_ids(read.dataset) == ALL_IDS * 2


@pytest.mark.parametrize("pattern", ["", "*.parquet"])
def test_a_delta_table(prepare, write_parts, tmp_path, pattern) -> None:
    folder = write_parts(write_parquet, "part-{:05}.parquet")
    (folder / "_delta_log").mkdir()
    said = prepare(folder / pattern, ["--format=parquet"]).said
    assert "is a Delta table, whose files also hold records that were deleted" in said
    assert "write its present records to a folder as Parquet" in said
    written = write_parts(write_parquet, "part-{:05}.parquet", folder="present")
    assert list_ids(prepare(written, ["--format=parquet", LAST]).dataset) == ALL_IDS


def test_a_folder_of_documents_is_annif_s(tmp_path) -> None:
    (tmp_path / "a.json").write_text('{"text": "bees", "subjects": []}\n')
    assert guess_format(tmp_path) == "annif"
    (tmp_path / "a.txt").write_text("bees\n")
    (tmp_path / "table.csv").write_text("text,labels\n")
    assert guess_format(tmp_path) == "annif"


@pytest.mark.parametrize(
    "columns", [["id", "text", "labels"], ["labels", "text"], ["text", "labels"]]
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["", ".csv", ".csv.gz"])
def test_parts_without_a_header(prepare, write_parts, tmp_path, columns, delimiter, ending) -> None:
    def write_records(rows) -> bytes:
        lines = [delimiter.join(row[name] for name in columns) for row in rows]
        content = "".join(f"{line}/Tea\n" for line in lines).encode()
        if columns[-1] == "text":
            content = "".join(f"{line}\n" for line in lines).encode()
        return gzip.compress(content) if ending.endswith(".gz") else content

    folder = write_parts(write_records, "part-{:05}" + ending, folder="it's a table")
    options = [CSV, LAST, "--label-separator=/"]
    said = prepare(folder, options).said
    read = prepare(follow_command(said), options)
    labels, n, _ = read.found
    assert labels == (["Bees", "Food"] if columns[-1] == "text" else ["Bees", "Food", "Tea"])
    assert n == len(ALL_IDS)
    assert "'the honey and tea'" not in read.said
    assert "first record      the " in read.said


def test_text_of_hive(prepare, write_parts) -> None:
    def write_records(rows) -> bytes:
        return "".join("\x01".join(row.values()) + "\n" for row in rows).encode()

    said = prepare(write_parts(write_records, "{:06}_0"), [CSV, LAST]).said
    read = prepare(follow_command(said), [CSV, LAST])
    assert read.found == (["Bees", "Food"], len(ALL_IDS), len(ALL_IDS))
    assert "first record      the honey and tea" in read.said


@pytest.mark.parametrize("ending", ["", ".csv.gz"])
def test_parts_after_a_first_one_with_a_header(prepare, write_parts, ending) -> None:
    def write_records(rows) -> bytes:
        content = write_csv(rows, has_header=rows[0]["id"] == "0-0")
        return gzip.compress(content) if ending else content

    folder = write_parts(write_records, "part-{:05}" + ending)
    said = prepare(folder, [CSV]).said
    assert "line 1: the first line is not the header of an earlier file" in said
    assert list_ids(prepare(follow_command(said), [CSV, LAST]).dataset) == ALL_IDS


def test_a_file_without_the_header_of_another(prepare, tmp_path) -> None:
    rows = make_rows(0)
    (tmp_path / "1.csv").write_bytes(write_csv(rows))
    (tmp_path / "2.csv").write_bytes(write_csv(rows, has_header=False))
    pattern = tmp_path / "?.csv"
    said = prepare(pattern, [CSV]).said
    follow_command(said, tmp_path / "2.csv").rename(tmp_path / "2.csv")
    assert list_ids(prepare(pattern, [CSV, LAST]).dataset) == ALL_IDS[:3] * 2


def test_a_first_line_that_is_empty(prepare) -> None:
    said = prepare("\nid,text,labels\n0-0,honey,Bees\n", [CSV]).said
    assert "line 1: no column 'text', 'labels', there are" in said
