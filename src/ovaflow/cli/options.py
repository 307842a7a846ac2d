"""Options of subcommands: those that several share, and those made of the settings of a step."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticUndefined

from ovaflow.registry import ONE_VS_ALL, find_reads, import_reference
from ovaflow.settings.schema import explain_error, explain_value, find_schema
from ovaflow.settings.section import Section, setting_info
from ovaflow.settings.source import ReadTexts
from ovaflow.settings.spelling import parse_value
from ovaflow.settings.train import Train
from ovaflow.storage.texts import read_json
from ovaflow.training.method import InputFile

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Adds options to the function of a command."""

FILE_TYPE = click.Path(dir_okay=False, path_type=Path)
file_option = functools.partial(click.option, type=FILE_TYPE)
file_argument = functools.partial(click.argument, type=FILE_TYPE)
DATASET_ARGUMENT = file_argument("dataset")
DATASET_OPTION = file_option("--dataset", required=True, help="The dataset file, dataset.h5.")
EMBEDDING_OPTION = file_option(
    "--embedding", required=True, help="Embedding of the dataset, by ovaflow embed."
)
STATISTICS_OPTION = file_option(
    "--statistics", required=True, help="Statistics file to write, training.h5."
)


def add_options(options: Sequence[Decorator]) -> Decorator:
    """Return a decorator that adds options to a command, in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def collect_options(
    argument: str, options: Mapping[str, Decorator], make: Callable[[dict[str, Any]], Any]
) -> Decorator:
    """Return a decorator that adds options to a command and passes their values as one object.

    Parameters
    ----------
    argument : str
        Name of the command's parameter for the object.
    options : mapping of str to decorator
        Options by name of their parameter.
    make : callable
        Makes the object from the values that were given, by name.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def call_with_object(**arguments: Any) -> Any:
            given = {}
            for name in options:
                value = one_or_several(arguments.pop(name))
                if value is not None:
                    given[name] = value
            arguments[argument] = make(given)
            return command(**arguments)

        return add_options(list(options.values()))(call_with_object)

    return decorate


def second_stage_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the second stage to a command."""
    use = click.option(
        "--rerank/--no-rerank", default=True, help="Whether to use the second stage."
    )
    path = file_option("--reranker", help="Second stage; by default reranker.h5 next to the model.")
    return path(use(command))


def output_option(text: str) -> Decorator:
    """Make the required option ``--output``."""
    return file_option("--output", required=True, help=text)


def source_files_option(name: str, text: str) -> Decorator:
    """Make an option of files of a dataset's source."""
    return click.option(
        name,
        type=click.Path(path_type=Path),
        multiple=True,
        callback=lambda _context, _option, paths: one_or_several(paths),
        help=f"{text}; for texts also a pattern such as 'exports/*.csv', and repeatable.",
    )


def number_option(name: str, default: int, text: str, least: int = 1) -> Decorator:
    """Make an option of a whole number that is at least ``least``."""
    return click.option(
        name, type=click.IntRange(least), default=default, show_default=True, help=text
    )


SHARD_OPTION = number_option("--shard", 0, "Number of the shard.", least=0)


def _make_callback(model: type[Section], field: str) -> Callable[..., Any]:
    """Return a callback that validates an option, written as in a config file.

    The value is validated by the model that defines the field first.
    """
    owners = []
    for parent in model.__mro__:
        if issubclass(parent, Section) and field in parent.model_fields:
            owners.append(parent)
    owner = owners[-1]

    def check(context: click.Context, option: click.Parameter, written: Any) -> Any:
        value = one_or_several(written)
        if value is None:
            return None
        try:
            return getattr(owner.model_validate({field: value}), field)
        except ValidationError as error:
            complaint = explain_value(error, field, value, owner)
            if complaint:
                raise click.BadParameter(complaint, context, option) from None
            return value

    return check


class _WordChoice(click.Choice):
    """A choice of words, of which true, false and null may be written as in YAML."""

    def __init__(self, words: Iterable[str], parts: Sequence[Mapping[str, Any]]) -> None:
        choices = list(words)
        if {"type": "boolean"} in parts:
            choices += ["true", "false"]
        super().__init__(choices)
        self.may_be_null = {"type": "null"} in parts

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """Convert a written value to a choice, or to None."""
        parsed = parse_value(value)
        if parsed is None and self.may_be_null:
            return None
        if isinstance(parsed, bool):
            value = str(parsed).lower()
        return super().convert(value, param, context)


def _find_entry_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of one value of a field that may have several values, or none."""
    parts = [
        part for part in schema.get("anyOf", [schema]) if part.get("type") not in ("null", "array")
    ]
    if not parts:
        return schema["items"]
    if len(parts) == 1:
        return parts[0]
    return {"anyOf": parts}


def setting_option(
    model: type[Section], field: str, name: str | None = None, **more: Any
) -> Decorator:
    """Make an option of a setting: its name, legal values, default and description.

    Parameters
    ----------
    model : type of Section
    field : str
        Name of the setting.
    name : str, optional
        Name of the option; by default that of the setting.
    **more
        Attributes of the option that replace those of the setting.
    """
    schema = find_schema(model, [field])
    info = model.model_fields[field]
    parts = schema.get("anyOf", [schema])
    description = setting_info(info)
    sentence = description.full_sentence
    # names of formats and of constants stay as they are
    first_word = sentence.split()[0]
    if first_word.isalpha() and len(first_word) > 1:
        sentence = _capitalize(sentence)
    takes_several = any(part.get("type") == "array" for part in parts)
    attributes: dict[str, Any] = {"help": f"{sentence}.", "show_default": True}
    if takes_several:
        attributes["help"] = f"{sentence}; repeatable."
    declaration = "--" + (name or field).replace("_", "-")
    if schema.get("type") == "boolean":
        declaration += f"/--no-{declaration[2:]}"
    else:
        attributes |= _make_type(model, field, schema, parts) | {"multiple": takes_several}
    if info.default is PydanticUndefined:
        attributes["required"] = True
    elif info.default is not None:
        attributes["default"] = info.default
        if takes_several and not isinstance(info.default, list):
            attributes["default"] = [info.default]
    elif description.null:
        attributes["help"] += f"  [default: {description.null}]"
    return click.option(declaration, field, **attributes | more)


def _capitalize(sentence: str) -> str:
    """Make the first letter of a sentence a capital one, and leave the others."""
    return f"{sentence[:1].upper()}{sentence[1:]}"


def reading_option(name: str) -> Decorator:
    """Make an option of the reading of texts, by default as the data of the model were read."""
    sentence = setting_info(ReadTexts.model_fields[name]).full_sentence
    if sentence.split()[0].isalpha():
        sentence = _capitalize(sentence)
    return setting_option(
        ReadTexts,
        name,
        default=None,
        show_default=False,
        help=f"{sentence}; by default as the model's data were read.",
    )


def reading_options(names: Iterable[str], **others: Decorator) -> Decorator:
    """Return a decorator with options of the reading of texts, passed as the dict ``reading``.

    Parameters
    ----------
    names : iterable of str
        Settings of :class:`ReadTexts`.
    **others : decorator
        Further options by name, which the dict has too.
    """
    names = list(names)
    options = dict(others)
    for name in names:
        options[name] = reading_option(name)

    def make(given: dict[str, Any]) -> dict[str, Any]:
        chosen = {name: given[name] for name in names if name in given}
        return given | ReadTexts.model_validate(chosen).model_dump(include=set(chosen))

    return collect_options("reading", options, make)


def _make_type(
    model: type[Section],
    field: str,
    schema: Mapping[str, Any],
    parts: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the type of an option: a choice of words, or any text that a callback validates."""
    words: list[str] = []
    for part in parts:
        if "enum" in part:
            words += part["enum"]
        elif "const" in part:
            words.append(part["const"])
    has_numbers = any(part.get("type") in ("number", "integer", "array") for part in parts)
    if words and not has_numbers:
        return {"type": _WordChoice(words, parts)}
    metavars = {"integer": "INTEGER", "number": "FLOAT"}
    metavar = metavars.get(_find_entry_schema(schema).get("type", ""), "TEXT")
    return {
        "type": click.UNPROCESSED,
        "metavar": metavar,
        "callback": _make_callback(model, field),
    }


THREADS_OPTION = setting_option(
    Train, "threads", help="Number of threads; results do not depend on it."
)
SHARDS_OPTION = number_option("--shards", 1, "Number of training jobs that a run is divided into.")


def method_file_options(files: Mapping[str, InputFile]) -> Decorator:
    """Return a decorator with an option for each file of a method, passed as the dict ``files``."""
    options = {}
    for name, file in files.items():
        option = "--" + name.replace("_", "-")
        options[name] = file_option(option, name, required=file.required, help=file.help)
    return collect_options("files", options, dict)


AUTOMATIC_SETTINGS = ("features", "C")
"""Settings that may be ``auto``, and are then read from the file of a choice."""


def step_options(step: str, method: str = ONE_VS_ALL) -> Decorator:
    """Return a decorator with options of all settings of a step, passed as ``settings``."""
    reads = find_reads(step, method)
    model = import_reference(reads.model)
    options = {}
    for field in reads.fields:
        options[field] = setting_option(model, field, reads.options.get(field))
    choices = {}
    for name in AUTOMATIC_SETTINGS:
        if name in reads.fields:
            choices[f"chosen_{name}"] = name
            options[f"chosen_{name}"] = choice_option(name)

    def make(given: dict[str, Any]) -> Any:
        files = {name: given.pop(file, None) for file, name in choices.items()}
        try:
            settings = model.model_validate(given)
        except ValidationError as error:
            raise click.UsageError(explain_error(error, given, model)) from None
        return apply_choices(settings, files)

    return collect_options("settings", options, make)


def choice_option(name: str) -> Decorator:
    """Make the option of a file with the choice for a setting."""
    text = f"Output of `ovaflow choose-{name.lower()}`, for --{name}=auto."
    return file_option(f"--chosen-{name}", f"chosen_{name}", help=text)


def apply_choices(settings: BaseModel, files: Mapping[str, Path | None]) -> BaseModel:
    """Replace each ``auto`` in settings by the choice in its file."""
    choices = {}
    for name, path in files.items():
        if getattr(settings, name) == "auto":
            if path is None:
                raise click.UsageError(f"--{name}=auto needs --chosen-{name}")
            chosen = read_json(path, name)["chosen"]
            if isinstance(chosen, str):
                chosen = chosen.split("+")
            choices[name] = chosen
    return settings.model_copy(update=choices)


def one_or_several(value: Any) -> Any:
    """Return the only value of a repeatable option, or a list of several; None without a value."""
    if not isinstance(value, tuple):
        return value
    if len(value) > 1:
        return list(value)
    if value:
        return value[0]
    return None


def scratch_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--scratch`` to a command, whose argument ``dataset`` is then a copy there.

    The copy exists as long as the command runs.
    """

    @click.option(
        "--scratch",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="OVAFLOW_SCRATCH",
        show_envvar=True,
        help="Folder on a local disk, for a copy of the dataset that all jobs of this machine"
        " share.",
    )
    @functools.wraps(command)
    def call_with_copy(dataset: Path, scratch: Path | None, **arguments: Any) -> Any:
        from ovaflow.training.staging import copy_to_scratch

        with copy_to_scratch(dataset, scratch) as copy:
            return command(dataset=copy, **arguments)

    return call_with_copy
