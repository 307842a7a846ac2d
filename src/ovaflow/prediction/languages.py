"""Names of labels in the languages of their vocabulary."""

from collections.abc import Sequence
from typing import overload

from ovaflow.console.errors import InputError
from ovaflow.labels.subjects import UNDETERMINED_LANGUAGE
from ovaflow.model.model_file import Model


def list_languages(model: Model) -> list[str]:
    """List the languages in which a model has names of labels, its own first.

    Empty where the model does not know the languages of its names.
    """
    languages = list(model.names.translations)
    own = model.transform.get("language")
    if own:
        languages.insert(0, own)
    return languages


def find_names_in_language(model: Model, language: str) -> Sequence[str]:
    """Return the names of all labels in a language.

    A label without a name in the language keeps that of the model.

    Raises
    ------
    InputError
        If the model has no names in this language.
    """
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
    return _TranslatedNames(model.names.translations[language], model.label_names)


def list_alternatives(model: Model, language: str | None = None) -> list[Sequence[str]]:
    """List the alternative names of all labels in a language, None for the model's own, and those
    without a language.

    Those of a label are joined by line feeds.
    """
    languages = [language or model.transform.get("language"), UNDETERMINED_LANGUAGE]
    alternatives = model.names.alternatives
    return [alternatives[each] for each in languages if each in alternatives]


class _TranslatedNames(Sequence[str]):
    """Names in a language, or else those of the model; decoded on demand."""

    def __init__(self, names: Sequence[str], model_names: Sequence[str]) -> None:
        self._names = names
        self._model_names = model_names

    def __len__(self) -> int:
        return len(self._model_names)

    @overload
    def __getitem__(self, label: int) -> str: ...

    @overload
    def __getitem__(self, label: slice) -> Sequence[str]: ...

    def __getitem__(self, label: int | slice) -> str | Sequence[str]:
        return self._names[label] or self._model_names[label]
