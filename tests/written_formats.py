"""The same records in each format of texts; labels have a bar between them where they are no list."""

import pandas
from marc_records import make_marc, make_marcxml
from sheets import make_ods, make_xlsx

RECORDS = [
    ("n1", "Bees & honey, a “guide” <1>", ["Bees", "Žižkov"]),
    ("n2", "one label", ["wax"]),
    ("n3", "no label", []),
    ("n4", "Unicode: 蜜蜂 Œuvre 🐝", ["蜂", "Bees"]),
    ("n5", "", ["wax", "Bees"]),
]
HEADER = ["id", "text", "labels"]


FRAME = pandas.DataFrame(RECORDS, columns=HEADER)
JOINED = FRAME.assign(labels=FRAME["labels"].map("|".join))
SHEETS = {"One": [HEADER, *JOINED.values.tolist()]}


def format_lines(line):
    return "".join(f"{line(text, labels)}\n" for _, text, labels in RECORDS).encode()


MARC = [
    [("001", number), ("245", "a", text), *(("650", "a", label) for label in labels)]
    for number, text, labels in RECORDS
]
FILE_CONTENTS = {
    "csv": JOINED.to_csv(index=False).encode(),
    "jsonl": FRAME.to_json(orient="records", lines=True).encode(),
    "parquet": FRAME.to_parquet(),
    "xlsx": make_xlsx(SHEETS),
    "ods": make_ods(SHEETS),
    "text-tsv": format_lines(lambda text, labels: f"{'|'.join(labels)}\t{text}"),
    "fasttext": format_lines(
        lambda text, labels: " ".join([*(f"__label__{each}" for each in labels), text])
    ),
    "annif": format_lines(
        lambda text, labels: f"{text}\t{' '.join(f'<{each}>' for each in labels)}"
    ),
    "marc": make_marc(MARC),
    "marcxml": make_marcxml(MARC),
}
