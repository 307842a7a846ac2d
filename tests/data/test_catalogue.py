from pathlib import Path

import pytest

from ovaflow.console.errors import InputError
from ovaflow.data.catalogue import default_catalogue, entry_of, files_of, read_catalogue

SOURCE = "{url: 'http://x.org/a.zip', members: {train: a.txt, test: b.txt}}"
PUBLISHED = Path(__file__).parents[2] / "config" / "published.tsv"
# d, l, n of train and test, on the repository's page
COUNTS = {
    "eurlex-4k": (5_000, 3_993, 15_539, 3_809),
    "wiki10-31k": (101_938, 30_938, 14_146, 6_616),
    "amazoncat-13k": (203_882, 13_330, 1_186_239, 306_782),
    "delicious-200k": (782_585, 205_443, 196_606, 100_095),
    "wikilshtc-325k": (1_617_899, 325_056, 1_778_351, 587_084),
    "wikipedia-500k": (2_381_304, 501_070, 1_813_391, 783_743),
    "amazon-670k": (135_909, 670_091, 490_449, 153_025),
    "amazon-3m": (337_067, 2_812_281, 1_717_899, 742_507),
    "bibtex": (1_836, 159, 4_880, 2_515),
    "delicious": (500, 983, 12_920, 3_185),
    "mediamill": (120, 101, 30_993, 12_914),
}


def test_sizes_of_the_repository():
    found = {name: read_catalogue()[name].counts for name in COUNTS}
    assert {name: (each.features, each.labels, each.train, each.test) for name, each in found.items()} == COUNTS


def test_propensities():
    found = {name: (entry.propensity.a, entry.propensity.b) for name, entry in read_catalogue().items()}
    assert found["wikilshtc-325k"] == found["wikipedia-500k"] == (0.5, 0.4)
    assert found["amazon-670k"] == found["amazon-3m"] == (0.6, 2.6)
    assert {found[name] for name in COUNTS if not name.startswith(("wikil", "wikip", "amazon-"))} == {(0.55, 1.5)}


def test_published_numbers_are_of_datasets_in_the_catalogue():
    published = {line.split("\t")[0] for line in PUBLISHED.read_text().splitlines()[1:]}
    assert published - {"aloi"} == set(COUNTS)
    assert set(COUNTS) <= set(read_catalogue())


def test_no_dataset_and_no_source_appears_twice():
    text = default_catalogue().read_text()
    places = [source.page for entry in read_catalogue().values() for source in entry.sources]
    assert len(places) == len(set(places))
    assert text.count("\n    title:") == len(read_catalogue())


def test_other_splits_have_names_of_their_own():
    for name, entry in read_catalogue().items():
        mirrored = any("pecos" in (source.url or "") for source in entry.sources)
        assert mirrored == name.endswith("-pecos")
        assert bool(entry.note) == name.endswith(("-pecos", "-v2"))


def test_files_are_known_in_advance():
    ours = files_of("amazon-670k")
    assert ours == {
        "format": "xmc-text",
        "train": "train.txt",
        "test": "test.txt",
        "files": ["train.txt", "test.txt"],
        "propensity_a": 0.6,
        "propensity_b": 2.6,
    }
    pairs = files_of("eurlex-4k-pecos")
    assert (pairs["format"], pairs["train"], pairs["test"]) == ("npz", "X.trn.npz", "X.tst.npz")
    assert pairs["files"] == ["X.trn.npz", "Y.trn.npz", "X.tst.npz", "Y.tst.npz"]


def test_unknown_dataset_names_the_known_ones(tmp_path):
    with pytest.raises(InputError, match=r"no dataset 'eurlex'; choose from eurlex-4k, wiki10-31k"):
        entry_of("eurlex")
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read \(No such file"):
        entry_of("eurlex", tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("{title: A, format: npz, colour: red, sources: [%s]}", "datasets.a.colour: Extra inputs"),
        ("{title: A, format: xmc-text, sources: []}", "datasets.a.sources: List should have at least 1 item"),
        ("{title: A, format: xmc-text, sources: [{members: {train: a, test: b}}]}", "give either drive or url"),
        ("{title: A, format: xmc-text, sources: [{url: 'file:///a', members: {}}]}", "datasets.a.sources.0.url"),
        ("{title: A, format: xmc-text, sources: [{url: 'http://a', members: {x: y}}]}", "members must be"),
        ("{title: A, format", "not valid YAML: "),
    ],
)
def test_a_wrong_catalogue_is_one_clear_line(tmp_path, body, complaint):
    path = tmp_path / "catalogue.yaml"
    path.write_text("datasets:\n  a: " + body.replace("%s", SOURCE))
    with pytest.raises(InputError) as caught:
        read_catalogue(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)
