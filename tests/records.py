"""Files of records, which are dicts."""

import csv
import json
from pathlib import Path


def write_records(path, records, delimiter=",") -> None:
    """A table, or JSON Lines where the name ends so."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        if str(path).endswith("jsonl"):
            file.writelines(json.dumps(record) + "\n" for record in records)
        else:
            table = csv.DictWriter(file, records[0], delimiter=delimiter)
            table.writeheader()
            table.writerows(records)


def read_records(path):
    """Records of a table, whether or not it begins as spreadsheets know UTF-8."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))
