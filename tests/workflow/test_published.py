"""Published precision of one-vs-all training, reached by its commands on the data's published
splits.
"""

import json

import pytest
from commands import ovaflow

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

PUBLISHED = {"bibtex": (62.62, 39.09, 28.79), "delicious": (65.02, 58.88, 53.28)}
"""P@1, P@3, P@5 in percent: XMC repository, 2019 revision (its splits are close to these, not
identical).
"""

STEPS = """
prepare --format=xmc-text --train={data}/train.txt.gz --test={data}/test.txt.gz --output=dataset.h5
means dataset.h5 --output=means.h5
plan dataset.h5 --shards=1 --output=plan.tsv
train-shard dataset.h5 --means=means.h5 --plan=plan.tsv --shard=0 --threads=2 --output=shard.h5
merge shard.h5 --dataset=dataset.h5 --output=model.h5 --statistics=training.h5
predict model.h5 --dataset=dataset.h5 --output=predictions.h5
evaluate predictions.h5 --dataset=dataset.h5 --model=model.h5 --training=training.h5 --output=metrics.json
"""


@pytest.mark.parametrize("name", PUBLISHED)
def test_precision_is_at_most_a_point_below_the_published(
    tmp_path, monkeypatch, real_data, name
) -> None:
    monkeypatch.chdir(tmp_path)
    for step in STEPS.strip().splitlines():
        ovaflow(step.format(data=real_data / name).split())
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    for k, theirs in zip((1, 3, 5), PUBLISHED[name], strict=True):
        ours = 100 * metrics[f"P@{k}"]
        assert ours > theirs - 1
