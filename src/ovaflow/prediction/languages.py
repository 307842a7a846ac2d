"""Names of labels in the languages of their vocabulary."""

from collections.abc import Sequence

from ovaflow.console.errors import InputError


def list_languages(model):
    """Languages in which a model has names of labels, its own first; empty where it knows none."""
    own = model.transform.get("language")
    return [*filter(None, [own]), *model.names.translations]


def find_names_in_language(model, language):
    """Names of all labels in a language; the model's own where the vocabulary has none."""
    languages = list_languages(model)
    if language not in languages:
        message = f"has no names of labels in language {language!r}"
        remedy = None
        if languages:
            message = f"{message}, but in {', '.join(languages)}"
        else:
            remedy = "train with a vocabulary that says in which languages its names are"
        raise InputError(message, path=model.path, remedy=remedy)
    if language not in model.names.translations:
        return model.label_names
    return _Translated(model.names.translations[language], model.label_names)


class _Translated(Sequence):
    """Names in a language, in their absence those of the model; decoded on demand."""

    def __init__(self, names, own) -> None:
        self._names = names
        self._own = own

    def __len__(self):
        return len(self._own)

    def __getitem__(self, place):
        return self._names[place] or self._own[place]
