"""Which blocks of features suit a dataset: ``features: auto``."""

import hashlib
from heapq import nsmallest
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress, silence
from ovaflow.data.blocks import without_spaces
from ovaflow.data.dataset import Dataset, Names, Split
from ovaflow.data.label_names import with_label_names, written_names
from ovaflow.data.labels import NamedLabels
from ovaflow.data.prepare import training_instances
from ovaflow.data.vocabulary import NoTermsError, learn
from ovaflow.settings.models import TrainLabels
from ovaflow.tuning.comparison import compare, failed_trial, folds, summary, try_on

KIND = "features"

_SAMPLE = 3000
"""Instances: the best blocks are the same for more."""
_EPSILON = 0.1
"""Where the solver stops: blocks compare as at 0.01 in two thirds of the time."""
_PIECES = ("characters=1-2", "characters=1-3", "words+characters=1-3")
"""Candidates besides those of the settings, for texts without spaces between words."""


def choose_features(source, settings, threads=1):
    """Compare the candidates of ``settings`` on instances of the source's training file; returns JSON-able figures."""
    sample = nsmallest(settings.instances or _SAMPLE, training_instances(source), key=_hash)
    if len(sample) < 2:
        raise InputError(f"{len(sample)} training instances are too few to choose features on", path=source.trained_on)
    written = written_names(source)
    rounds = list(folds(len(sample), settings.held_out))
    training = TrainLabels(epsilon=_EPSILON)
    with Progress("choosing features", 0, "trainings") as progress:

        def attempt(candidate, part):
            with silence():
                blocks = settings.model_copy(update={"features": candidate.split("+")})
                try:
                    trial = try_on(_dataset(sample, part, blocks, written), training, settings.metric, threads)
                except NoTermsError:
                    trial = failed_trial(len(part[1]))
            progress.advance()
            return trial

        pieces = _PIECES if without_spaces(instance.text for instance in sample) else ()
        candidates = list(dict.fromkeys([*settings.candidates, *pieces]))
        trials, best = compare(rounds, attempt, candidates)
    return {"metric": settings.metric, "instances": len(sample)} | summary(trials, best)


def _hash(instance):
    return hashlib.blake2b(instance.text.encode("utf-8", "surrogatepass"), digest_size=16, salt=b"tuning").digest()


def _dataset(sample, part, settings, written=None):
    """The instances of a round as a dataset whose test set is held out; ``written`` are the names of given labels."""
    labels = NamedLabels()
    fit, held = ([sample[position] for position in positions] for positions in part)
    for instance in fit:
        labels.add_train(_known(instance.labels, written))
    for instance in held:
        labels.add_test(_known(instance.labels, written))
    transform, X, *_ = learn([instance.text for instance in fit], settings, settings.weighs)
    X_test = transform.transform([instance.text for instance in held], quiet=True)
    names, Y, Y_test, _ = labels.finish()
    others = () if written is None else [written[name][1:] for name in names]
    names = names if written is None else [written[name][0] for name in names]
    train = with_label_names(Split(X, Y), names, transform, None, others) if settings.label_names else Split(X, Y)
    named = train.X.n_rows - X.n_rows
    parameters = {"bias": settings.bias, "normalize": settings.normalize, "named_labels": named}
    in_memory = Names(names, transform.feature_names, transform.idf)
    return Dataset(Path("held-out"), train, Split(X_test, Y_test), "", parameters, in_memory)


def _known(labels, written):
    labels = list(map(str, labels))
    return labels if written is None else [label for label in labels if label in written]
