"""Labels by the names that a person gives."""

import difflib

from ovaflow.console.errors import InputError

_SUGGESTED = 3


def shown_name(predictor, label):
    """Name of a label, or ``label 17`` where it has none."""
    names = predictor.label_names
    return names[label] if names and names[label].strip() else f"label {label}"


def find_labels(predictor, names):
    """Ids of named labels, upper or lower case; the smallest where labels share a name."""
    known = [shown_name(predictor, label) for label in range(predictor.n_labels)] if names else []
    exact, folded = _first_places(known), _first_places(name.casefold() for name in known)
    found = []
    for name in names:
        label = exact.get(name, folded.get(name.casefold()))
        if label is None:
            close = difflib.get_close_matches(name.casefold(), folded, n=_SUGGESTED, cutoff=0.5)
            words = [known[folded[each]] for each in close]
            raise InputError(
                f"no label {name!r}",
                path=predictor.model.path,
                remedy=f"did you mean {' or '.join(map(repr, words))}?" if words else None,
            )
        found.append(label)
    return found


def _first_places(names):
    places = {}
    for place, name in enumerate(names):
        places.setdefault(name, place)
    return places
