import re

import pytest

from ovaflow.console.errors import InputError
from ovaflow.records.catalogue import default_catalogue, find_entry, read_catalogue

SOURCE = "{url: 'http://x.org/a.zip', members: {train: a.txt, test: b.txt}}"


def test_no_dataset_and_no_source_appears_twice() -> None:
    text = default_catalogue().read_text()
    places = [source.page for entry in read_catalogue().values() for source in entry.sources]
    assert len(places) == len(set(places))
    assert text.count("\n    title:") == len(read_catalogue())


def test_unknown_dataset_names_the_known_ones(tmp_path) -> None:
    with pytest.raises(InputError, match=r"no dataset 'eurlex'; choose from eurlex-4k, wiki10-31k"):
        find_entry("eurlex")
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read \(No such file"):
        find_entry("eurlex", tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("{title: A, format: npz, colour: red, sources: [%s]}", "datasets.a.colour: Extra inputs"),
        (
            "{title: A, format: xmc-text, sources: []}",
            "datasets.a.sources: List should have at least 1 item",
        ),
        (
            "{title: A, format: xmc-text, sources: [{members: {train: a, test: b}}]}",
            "give either drive or url",
        ),
        (
            "{title: A, format: xmc-text, sources: [{url: 'file:///a', members: {}}]}",
            "datasets.a.sources.0.url",
        ),
        (
            "{title: A, format: xmc-text, sources: [{url: 'http://a', members: {x: y}}]}",
            "members must be",
        ),
        ("{title: A, format", "not valid YAML: "),
    ],
)
def test_a_wrong_catalogue_is_one_clear_line(tmp_path, body, complaint) -> None:
    path = tmp_path / "catalogue.yaml"
    path.write_text("datasets:\n  a: " + body.replace("%s", SOURCE))
    with pytest.raises(InputError, match=rf"\A{path}[^\n]*{re.escape(complaint)}[^\n]*\Z"):
        read_catalogue(path)
