"""Inputs for the row parser: the corpus, and mutations of it."""

import json
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus.json")

PIECES = [
    *(b" ", b"\t", b"\r", b"\n", b"\r\n", b",", b":", b"#", b"+", b"-", b".", b"e", b"E", b"\0", b"\xff", b"\x80"),
    *(b"0", b"1", b"9", b"00", b"1:1", b"0:1 ", b"2,", b" 3:0.5", b"# 1:", b"nan", b"inf", b"0x1", b"1_0", b"qid:"),
    *(b"2147483646", b"2147483647", b"4294967296", b"9223372036854775807", b"18446744073709551617", b"1" * 40),
    *(b"1e400", b"1e-400", b"3.4028235e38", b"3.4028236e38", b"1e38", b"1e-45", b"7e-46", b"1e23", b"9007199254740993"),
    *(b"1.00000005960464477539062500000000001", b"16777217.0000000001", b"0" * 30, b"." + b"0" * 30 + b"1"),
]
"""What a mutation puts in."""

SEEDS = [
    b"\0",
    b"\0" + b"0,2 1:1 3:-2.5e-1\n4\n 0:1\n",
    b"\1" + b"0 1:1 # c\n\n7,1 2:.5\r\n",
    b"\3" + b"1 8:1e5",
    b"\2" + b"1,2 3:4",
]


def corpus():
    """Inputs that reached something new while the corpus was grown.

    Returns
    -------
    list of bytes
    """
    return [text.encode("latin-1") for text in json.loads(CORPUS.read_text(encoding="utf-8"))]


def mutated(data, others, random):
    """An input with a few bytes flipped, pieces put in, taken out, doubled or taken from another one.

    Parameters
    ----------
    data : bytes
    others : list of bytes
    random : random.Random

    Returns
    -------
    bytes
    """
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        start = random.randrange(len(data) + 1)
        end = min(len(data), start + random.choice((1, 1, 2, 4, 9)))
        kind = random.randrange(6)
        if kind == 0 and start < len(data):
            data = data[:start] + bytes([data[start] ^ 1 << random.randrange(8)]) + data[start + 1 :]
        elif kind <= 2:
            data = data[:start] + random.choice(PIECES) + data[start:]
        elif kind == 3:
            data = data[:start] + data[end:]
        elif kind == 4:
            data = data[:end] + data[start:end] * random.choice((1, 2, 5)) + data[end:]
        else:
            other = random.choice(others)
            data = data[:start] + other[random.randrange(len(other) + 1) :]
    return data
