"""Names of labels in the languages of their vocabulary."""

from ovaflow.console.errors import InputError


def languages_of(model):
    """Languages in which a model has names of labels, its own first; empty where it knows none."""
    own = model.transform.get("language")
    return [*filter(None, [own]), *model.names.translations]


def names_in(model, language):
    """Names of all labels in a language; the model's own where the vocabulary has none."""
    languages = languages_of(model)
    if language not in languages:
        message, remedy = f"has no names of labels in language {language!r}", None
        if languages:
            message = f"{message}, but in {', '.join(languages)}"
        else:
            remedy = "train with a vocabulary that says in which languages its names are"
        raise InputError(message, path=model.path, remedy=remedy)
    if language not in model.names.translations:
        return model.label_names
    pairs = zip(model.names.translations[language], model.label_names, strict=True)
    return [translated or own for translated, own in pairs]
