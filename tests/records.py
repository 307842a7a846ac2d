"""Files of records; a record is a dict."""

import csv
import json
from pathlib import Path


def write_records(path, records, delimiter=",") -> None:
    """Write a table, or JSON Lines if the name ends in jsonl."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        if str(path).endswith("jsonl"):
            file.writelines(json.dumps(record) + "\n" for record in records)
        else:
            table = csv.DictWriter(file, records[0], delimiter=delimiter)
            table.writeheader()
            table.writerows(records)


def read_records(path) -> list[dict[str, str]]:
    """Read a table in UTF-8, with or without a byte-order mark."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))
