"""The same records in each format of texts; bars join labels where a format has no lists."""

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


def format_lines(format_line) -> bytes:
    """Format each record as a line by a function of text and labels."""
    lines = [format_line(text, labels) + "\n" for _, text, labels in RECORDS]
    return "".join(lines).encode()


def _format_text_tsv(text, labels) -> str:
    return f"{'|'.join(labels)}\t{text}"


def _format_fasttext(text, labels) -> str:
    return " ".join([*(f"__label__{label}" for label in labels), text])


def _format_annif(text, labels) -> str:
    uris = " ".join(f"<{label}>" for label in labels)
    return f"{text}\t{uris}"


def _make_marc_fields(number, text, labels) -> list[tuple[str, ...]]:
    subjects = [("650", "a", label) for label in labels]
    return [("001", number), ("245", "a", text), *subjects]


MARC = [_make_marc_fields(number, text, labels) for number, text, labels in RECORDS]
FILE_CONTENTS = {
    "csv": JOINED.to_csv(index=False).encode(),
    "jsonl": FRAME.to_json(orient="records", lines=True).encode(),
    "parquet": FRAME.to_parquet(),
    "xlsx": make_xlsx(SHEETS),
    "ods": make_ods(SHEETS),
    "text-tsv": format_lines(_format_text_tsv),
    "fasttext": format_lines(_format_fasttext),
    "annif": format_lines(_format_annif),
    "marc": make_marc(MARC),
    "marcxml": make_marcxml(MARC),
}
