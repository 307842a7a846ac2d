"""Names, paths, columns and separators that would be trouble in a shell, a file system or Snakemake."""

import pytest

from ovaflow.configuration.files import download_name
from ovaflow.configuration.resolve import resolve
from ovaflow.console.errors import InputError

DEFAULTS = {"datasets": {"docstrings": {"source": "builtin"}}, "runs": {"msi": {}}}

ILLEGAL_NAMES = [
    *("a b", " a", "a ", "a\n", "a\tb", "a'b", 'a"b', "a;b", "a|b", "a&b", "a>b", "$(touch x)", "`touch x`", "$HOME"),
    *("-a", "--help", ".a", "..", ".", "a/b", "/a", "a\\b", "{x}", "a{b}", "{", "*", "?", "[a]", "~", "#a", "a!", "%a"),
    *(
        "",
        "a" * 101,
        "a" * 300,
        "b" + "a" * 20,
        "ab" * 20,
        "\0",
        "a\x1b[2J",
        "\u00e9",
        "e\u0301",
        "\u202eabc",
        "\u4e2d",
    ),
    *("\ud800", "\U0001f600", "a:b", "a@b", "a=b", "a,b", "a+b", "report.html", "dataset.h5", "held-out-0.2"),
]
LEGAL_NAMES = [
    "a",
    "CON",
    "nul",
    "aux.txt",
    "a.",
    "a..b",
    "_",
    "0",
    "1.5",
    "a-",
    "_-rf",
    "a" * 15,
    "ab" * 19,
    "".join(map(str, range(50))),
]
ILLEGAL_PATHS = [
    *("{x}", "a{b}.csv", "a}", "a\nb", "a\x00b", "a\x1b[2J", "\u202ea", "", "\ud800", "a" * 1001, "\u4e2d" * 334),
    *(
        "ftp://h/a",
        "file:///etc/passwd",
        "s3://b/a",
        "https://h/a\nb",
        "https://[x/a",
        "https://h/{x}",
        "https://h/${}",
    ),
    *("https://me:secret@h/a", "https://token@h/a", "https://h/a?token=x", "https://h/a?b=c&X-Amz-Signature=x"),
    *("https://h/a?API_KEY=x", "https://h/a?sig=x%20y", "http://me:@h/a"),
]
LEGAL_PATHS = [
    *("a b.csv", "it's \"$(touch x)\" `y`; & | > *.csv", "-rf", "--help", "~/a", "../a", "/a//b", ".a", "CON", "*"),
    "[a]",
    *("\u00e9e\u0301\u4e2d\U0001f600", "a" * 1000, "$HOME/$a", "https://h/a?b=c"),
    "https://h/${A}?token=${B}",
    *("https://${USER}:${PASSWORD}@h/a.csv.gz", "http://h:8080/%20;$(x)`y`'\"a"),
]  # fmt: skip
ILLEGAL_TEXTS = ["", "\0", "a\x1b", "\x7f", "\ud800"]
LEGAL_TEXTS = [
    "'",
    '"',
    "\t",
    "\n",
    ";",
    "|",
    "$(touch x)",
    "{x}",
    "--",
    " ",
    "\u00a0",
    "\u202e",
    "e\u0301",
    "*" * 300,
    "\\",
]


def settings_of(dataset="d", run="r", **entry):
    config = {"datasets": {dataset: {"format": "csv", "train": "a.csv"} | entry}, "runs": {run: {}}}
    return resolve(config, DEFAULTS)


def refused(**changes):
    with pytest.raises(InputError) as caught:
        settings_of(**changes)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400
    return str(caught.value)


@pytest.mark.parametrize("name", ILLEGAL_NAMES)
def test_illegal_names(name):
    assert refused(dataset=name).startswith("datasets: ")
    assert refused(run=name).startswith("runs: ")


@pytest.mark.parametrize("name", LEGAL_NAMES)
def test_legal_names(name):
    settings = settings_of(name, name)
    assert list(settings.datasets) == list(settings.runs) == [name]


@pytest.mark.parametrize("role", ["train", "test", "labels"])
@pytest.mark.parametrize("path", ILLEGAL_PATHS)
def test_illegal_paths(path, role):
    complaint = refused(**{role: path})
    assert complaint.startswith(f"datasets.d.{role}: ")
    assert "secret" not in complaint


@pytest.mark.parametrize("path", LEGAL_PATHS)
def test_legal_paths(path):
    assert settings_of(train=path).datasets["d"].train == path


@pytest.mark.parametrize("key", ["text_column", "labels_column", "label_separator"])
def test_columns_and_separators(key):
    for text in ILLEGAL_TEXTS:
        assert refused(**{key: text}).startswith(f"datasets.d.{key}: ")
    for text in LEGAL_TEXTS:
        assert getattr(settings_of(**{key: text}).prepare_of("d"), key) == text


@pytest.mark.parametrize("path", ["{x}", "a\nb", "https://h/m.h5", "\ud800", "a" * 2000])
def test_illegal_models(path):
    with pytest.raises(InputError, match=r"^runs\.r\.pretrained|^runs\.r: pretrained"):
        resolve({"runs": {"r": {"initialization": "pretrained", "pretrained": path}}}, DEFAULTS)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://h/a%2F..%2F..%2Fb.csv", "a_.._.._b.csv"),
        ("https://h/..", "_."),
        ("https://h/-rf.csv.gz?x=/y", "_rf.csv.gz"),
        ("https://h/%7Bx%7D%0A*.csv", "_x___.csv"),
        ("https://h/", "data"),
        ("https://h/${TOKEN}", "__TOKEN_"),
        ("https://h/" + "a" * 500 + ".csv.gz", "a.csv.gz"),
        ("https://h/" + "".join(map(str, range(500))) + ".csv.gz", "".join(map(str, range(500)))[-93:] + ".csv.gz"),
    ],
)
def test_names_of_downloads(address, name):
    assert download_name(address) == name
