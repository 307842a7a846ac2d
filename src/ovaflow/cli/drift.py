"""What is said of records that are unlike those that a model was trained on."""

from ovaflow.cli.labelled import percent
from ovaflow.prediction.drift import UNLIKE

_NORMAL = "test set at training"


def drift_lines(drift, probabilistic):
    """A line for each figure, and a warning if some are far from what is normal."""
    if "unknown_words" in drift:
        yield _unknown_words(**drift["unknown_words"])
    if "first_score" in drift:
        yield _first_score(**drift["first_score"], probabilistic=probabilistic)
    if "first_labels" in drift:
        yield _first_labels(drift["first_labels"])
    if drift["far_off"]:
        reasons = ", ".join(UNLIKE[name] for name in drift["far_off"])
        yield f"these records are unlike those that the model was trained on: {reasons}"


def _unknown_words(share, reference, most_frequent):
    line = f"words the model does not know: {percent(share)}{_normal(reference, percent)}"
    if most_frequent:
        line += f", most often {', '.join(most_frequent)}"
    return line


def _first_score(mean, reference, probabilistic):
    if probabilistic:
        words = f"probability of the first label: {percent(mean)}{_normal(reference, percent)}"
    else:
        words = f"score of the first label: {mean:.2f}{_normal(reference, '{:.2f}'.format)}"
    return f"mean {words}"


def _first_labels(labels):
    line = f"first labels unlike those of the {_NORMAL}: {percent(labels['distance'])}"
    line += f", by chance {percent(labels['by_chance'])}"
    changes = ", ".join(_change(**each) for each in labels["changed"])
    return f"{line}; changed most: {changes}"


def _change(label, share, reference):
    return f"{label} {percent(share)} ({percent(reference)})"


def _normal(value, text):
    return "" if value is None else f" ({_NORMAL}: {text(value)})"
