"""Config files that are none, and that promise more than they are."""

import pytest

from ovaflow.cli import main
from ovaflow.configuration.yaml_file import read_yaml
from ovaflow.console.errors import InputError


def laughs(opening, item, closing):
    """Nine levels of ten aliases each: 10^9 values."""
    lines = [f"a0: &a0 {opening}{item.format(0, 1)}{closing}"]
    lines += [
        f"a{k}: &a{k} {opening}{', '.join(item.format(j, f'*a{k - 1}') for j in range(10))}{closing}"
        for k in range(1, 10)
    ]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (laughs("[", "{1}", "]"), 6, "aliases stand for more than 100,000 values"),
        (laughs("{", "k{0}: {1}", "}"), 6, "aliases stand for more than 100,000 values"),
        (b"a: &a [*a]", 1, "nested more than 30 deep"),
        (b"a: " + b"[" * 1000, None, "nested more than 30 deep"),
        (b"a: " + b"{b: " * 200 + b"1" + b"}" * 200, 1, "nested more than 30 deep"),
        (b"train: {C: 1}\nruns: {}\ntrain: {C: 2}\n", 3, "the key 'train' stands twice"),
        (b"train: {C: 1,\n  C: 2}\n", 2, "the key 'C' stands twice"),
        (b"a: !!python/object/apply:os.system ['touch HACKED']\n", 1, "no YAML: could not determine a constructor"),
        (b"a: !!python/name:os.system\n", 1, "no YAML"),
        (b"datasets: {\xe4: {source: builtin}}\n", None, "can't decode byte 0xe4"),
        ("a: 1\n".encode("utf-16"), None, "can't decode byte 0xff"),
        (b"a: \0\n", None, "no YAML"),
        (b"a: 1\n" * 300_000, None, "more than 1,048,576 bytes"),
        (b"a: " + b"1" * 5000, None, "no YAML: Exceeds the limit"),
        (b"a: 2024-13-45\n", None, "no YAML: month must be in 1..12"),
        (b"a: [1\nb: 2\n", 2, "no YAML"),
        (b"a:\n\t- 1\n", 2, "no YAML: found character '\\t'"),
        (b"? [a]\n: b\n", 1, "found unhashable key"),
    ],
)
def test_refused_in_one_line(tmp_path, monkeypatch, capfd, content, line, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_yaml("my.yaml")
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"my.yaml{'' if line is None else f', line {line}'}: ")
    assert main(["run", "my.yaml"]) == 2
    assert capfd.readouterr().err == f"ovaflow: error: {caught.value}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["my.yaml"]


def test_aliases_and_merge_keys_are_legal(tmp_path):
    path = tmp_path / "my.yaml"
    path.write_text("a: &x {b: 1}\nc: {<<: *x, d: 2}\ne: *x\n")
    assert read_yaml(path) == {"a": {"b": 1}, "c": {"b": 1, "d": 2}, "e": {"b": 1}}


@pytest.mark.parametrize("path", ["none.yaml", ".", "/dev/null/x"])
def test_no_file(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        read_yaml(path)
