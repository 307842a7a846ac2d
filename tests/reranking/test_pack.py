"""A packed model: what it holds, that it predicts the same elsewhere, and what is refused."""

import os
import shutil
import subprocess
import zipfile

import pytest
from commands import ovaflow, predict_answers
from damage import flip_bit

from ovaflow.storage.texts import read_json


@pytest.fixture(scope="module")
def packed(folder, model, tmp_path_factory):
    """A pack of the model with its second stage, its metrics, an index and a licence."""
    place = tmp_path_factory.mktemp("tiny")
    shutil.copy(model, place)
    shutil.copy(model.with_name("reranker.h5"), place)
    files = [
        f"--dataset={folder}/dataset.h5",
        f"--training={folder}/dataset/t.h5",
        f"--model={place}/model.h5",
    ]
    ovaflow(
        "evaluate", folder / "dataset" / "predictions.h5", files, f"--output={place}/metrics.json"
    )
    (place / "terms.txt").write_text("Do as you like.\n")
    ovaflow("index", place / "model.h5")
    ovaflow("pack", place / "model.h5", make_pack_options(place), f"--output={place}/tiny.zip")
    return place / "tiny.zip"


def make_pack_options(place) -> list[str]:
    return [
        f"--licence={place}/terms.txt",
        "--language=fi",
        "--language=sv",
        "--intended-use=To test: it",
    ]


def get_refusal(*words) -> str:
    """The line with which a command fails."""
    (line,) = ovaflow(words, status=2).splitlines()
    return line


def predict_fitting_labels(model) -> list:
    texts = [f"--text=name{number} hint1 word{number}" for number in range(20)]
    return predict_answers(model, "--fit", texts)


def test_a_pack_predicts_the_same_elsewhere(packed, tmp_path) -> None:
    pack = tmp_path / "renamed.zip"
    there = tmp_path / "elsewhere"
    theirs = packed.parent
    shutil.copy(packed, pack)
    ovaflow("unpack", pack, f"--output={there}")
    for name in ("model.h5", "model.index.h5", "reranker.h5", "metrics.json"):
        assert (there / name).read_bytes() == (theirs / name).read_bytes()
    assert predict_fitting_labels(there / "model.h5") == predict_fitting_labels(theirs / "model.h5")
    # without ovaflow
    subprocess.run(
        ["python3", "-m", "zipfile", "-e", pack, plain := tmp_path / "plain"], check=True
    )
    checked = subprocess.run(
        ["sha256sum", "-c", "SHA256SUMS"], cwd=plain, capture_output=True, text=True, check=True
    )
    assert checked.stdout.splitlines() == [
        f"{name}: OK" for name in zipfile.ZipFile(pack).namelist()[:-1]
    ]
    assert (plain / "LICENSE").read_text() == "Do as you like.\n"


def test_equal_models_give_equal_packs_of_half_the_size(packed, tmp_path) -> None:
    again = tmp_path / "tiny.zip"
    ovaflow(
        "pack", packed.parent / "model.h5", make_pack_options(packed.parent), f"--output={again}"
    )
    assert again.read_bytes() == packed.read_bytes()
    assert again.stat().st_size < 0.6 * sum(
        path.stat().st_size for path in packed.parent.glob("*.h5")
    )


def test_hubs_read_the_card(packed) -> None:
    hub = pytest.importorskip("huggingface_hub")
    card = hub.ModelCard(zipfile.ZipFile(packed).read("README.md").decode())
    assert (card.data.license, card.data.license_link, card.data.language) == (
        "other",
        "LICENSE",
        ["fi", "sv"],
    )
    assert (card.data.library_name, card.data.pipeline_tag) == ("ovaflow", "text-classification")
    metrics = read_json(packed.parent / "metrics.json", "metrics")
    figures = {each.metric_name: each.metric_value for each in card.data.eval_results}
    assert {"P@1", "P@5", "F1-fit"} <= set(figures)
    assert figures == {name: round(metrics[name], 4) for name in figures}
    assert {each.metric_type for each in card.data.eval_results} == set(card.data.metrics)
    # what the hub makes of these data again
    assert hub.ModelCardData(**card.data.to_dict()).to_dict() == card.data.to_dict()
    assert "To test: it" in card.text


def test_damage_is_named(packed, tmp_path) -> None:
    pack = shutil.copy(packed, tmp_path)
    folder = tmp_path / "folder"
    with zipfile.ZipFile(pack) as opened:
        place = opened.getinfo("model.h5").header_offset
    flip_bit(pack, place + 5000)
    assert "tiny.zip: model.h5 is damaged" in get_refusal("unpack", pack, f"--output={folder}")
    os.truncate(pack, place + 5000)
    assert "tiny.zip: not a pack, or cut short; copy" in get_refusal(
        "unpack", pack, f"--output={folder}"
    )
    assert "none.zip: no such file" in get_refusal("unpack", tmp_path / "none.zip")
    assert os.listdir(tmp_path) == ["tiny.zip"]


@pytest.mark.parametrize("name", ["../outside", "/outside", "a/../../outside"])
def test_names_outside_the_folder_are_refused(tmp_path, name) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as pack:
        pack.writestr(name, "x")
        pack.writestr("SHA256SUMS", f"{'0' * 64}  {name}\n")
    assert "would lie outside the folder" in get_refusal(
        "unpack", tmp_path / "bad.zip", f"--output={tmp_path}/in/folder"
    )
    assert os.listdir(tmp_path) == ["bad.zip"]


def test_what_is_there_stays(packed, tmp_path) -> None:
    (tmp_path / "folder").mkdir()
    assert "folder: exists; remove it" in get_refusal(
        "unpack", packed, f"--output={tmp_path}/folder"
    )
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as pack:
        pack.writestr("readme.txt", "a zip of something else")
    assert "SHA256SUMS is missing" in get_refusal(
        "unpack", tmp_path / "other.zip", f"--output={tmp_path}/new"
    )


def test_what_a_card_cannot_say(packed, tmp_path, capsys) -> None:
    model = packed.parent / "model.h5"
    output = f"--output={tmp_path}/new.zip"
    assert "gone.txt: no such file, and no SPDX identifier" in get_refusal(
        "pack", model, output, "--licence=gone.txt"
    )
    assert "'Finnish' is not an ISO 639 code" in get_refusal(
        "pack", model, output, "--language=Finnish"
    )
    # pruned after it was measured
    shutil.copy(packed.parent / "metrics.json", tmp_path)
    ovaflow("prune", model, "--threshold=0.1", f"--output={tmp_path}/model.h5")
    ovaflow("pack", tmp_path / "model.h5", output)
    remarks = capsys.readouterr().err
    assert "the card has no figures: " in remarks
    assert "the card states no licence" in remarks
    pack = zipfile.ZipFile(tmp_path / "new.zip")
    assert "metrics.json" not in pack.namelist()
    assert "model-index" not in pack.read("README.md").decode()
