"""Options of subcommands: those that several share, and those made of the settings that their steps
read.
"""

import functools
from pathlib import Path

import click
from pydantic import ValidationError
from pydantic_core import PydanticUndefined

from ovaflow.registry import ONE_VS_ALL, import_reference
from ovaflow.settings.inputs import find_reads
from ovaflow.settings.schema import explain_error, explain_value, find_schema
from ovaflow.settings.section import Section, setting_info
from ovaflow.settings.source import ReadTexts
from ovaflow.settings.spelling import parse_value
from ovaflow.settings.train import Train
from ovaflow.storage.texts import read_json

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


def add_options(options):
    """Decorator of a command with options, in this order."""

    def decorate(command):
        for each in reversed(options):
            command = each(command)
        return command

    return decorate


def collect_options(argument, options, make):
    """Decorator: options by name, of which the command takes one object; ``make`` has the values
    that were given.
    """

    def decorate(command):
        @functools.wraps(command)
        def taking(**arguments):
            values = {name: one_or_several(arguments.pop(name)) for name in options}
            given = {name: value for name, value in values.items() if value is not None}
            return command(**arguments, **{argument: make(given)})

        return add_options(list(options.values()))(taking)

    return decorate


def second_stage_options(command):
    use = click.option(
        "--rerank/--no-rerank", default=True, help="Whether to use the second stage."
    )
    path = file_option("--reranker", help="Second stage; by default reranker.h5 next to the model.")
    return path(use(command))


def output_option(text):
    return file_option("--output", required=True, help=text)


def source_files_option(name, text):
    return click.option(
        name,
        type=click.Path(path_type=Path),
        multiple=True,
        callback=lambda _context, _option, paths: one_or_several(paths),
        help=f"{text}; for texts also a pattern such as 'exports/*.csv', and repeatable.",
    )


def number_option(name, default, text, least=1):
    return click.option(
        name, type=click.IntRange(least), default=default, show_default=True, help=text
    )


SHARD_OPTION = number_option("--shard", 0, "Number of the shard.", least=0)


def _checked(model, field):
    """Callback of an option: its value, written as in a config file, legal by the model that has it
    first.
    """
    owner = [
        each for each in model.__mro__ if issubclass(each, Section) and field in each.model_fields
    ][-1]

    def check(context, option, written):
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


class _Words(click.Choice):
    """Words, of which true, false and null may be written as in YAML."""

    def __init__(self, words, parts) -> None:
        booleans = ["true", "false"] if {"type": "boolean"} in parts else []
        super().__init__([*words, *booleans])
        self.may_be_null = {"type": "null"} in parts

    def convert(self, value, param, context):
        meant = parse_value(value)
        if meant is None and self.may_be_null:
            return None
        return super().convert(
            str(meant).lower() if isinstance(meant, bool) else value, param, context
        )


def _entry(schema):
    """Schema of one value, where there may be several or none."""
    parts = [
        part for part in schema.get("anyOf", [schema]) if part.get("type") not in ("null", "array")
    ]
    if not parts:
        return schema["items"]
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


def setting_option(model, field, name=None, **more):
    """A click option made of a field: its name, legal values, default and sentence."""
    schema = find_schema(model, [field])
    info = model.model_fields[field]
    parts = schema.get("anyOf", [schema])
    told = setting_info(info)
    sentence = told.full_sentence
    default = told.null
    # names of formats and of constants stay as they are
    first = sentence.split()[0]
    if first.isalpha() and len(first) > 1:
        sentence = sentence[:1].upper() + sentence[1:]
    several = any(part.get("type") == "array" for part in parts)
    attributes = {
        "help": f"{sentence}; repeatable." if several else f"{sentence}.",
        "show_default": True,
    }
    declaration = "--" + (name or field).replace("_", "-")
    if schema.get("type") == "boolean":
        declaration += f"/--no-{declaration[2:]}"
    else:
        attributes |= _type_of(model, field, schema, parts) | {"multiple": several}
    if info.default is PydanticUndefined:
        attributes["required"] = True
    elif info.default is not None:
        one_of_several = several and not isinstance(info.default, list)
        attributes["default"] = [info.default] if one_of_several else info.default
    elif default:
        attributes["help"] += f"  [default: {default}]"
    return click.option(declaration, field, **attributes | more)


def reading_option(name):
    """An option of how a file of texts is read, by default as the data of the model were."""
    sentence = setting_info(ReadTexts.model_fields[name]).full_sentence
    text = f"{sentence[:1].upper()}{sentence[1:]}" if sentence.split()[0].isalpha() else sentence
    return setting_option(
        ReadTexts,
        name,
        default=None,
        show_default=False,
        help=f"{text}; by default as the model's data were read.",
    )


def reading_options(names, **others):
    """Decorator: options of how files of texts are read, and others, which the command takes as
    ``reading``.
    """

    def make(given):
        chosen = {name: given[name] for name in names if name in given}
        return given | ReadTexts.model_validate(chosen).model_dump(include=set(chosen))

    return collect_options("reading", others | {name: reading_option(name) for name in names}, make)


def _type_of(model, field, schema, parts):
    words = []
    for part in parts:
        words += part.get("enum", [part["const"]] if "const" in part else [])
    numbers = any(part.get("type") in ("number", "integer", "array") for part in parts)
    if numbers or not words:
        metavar = {"integer": "INTEGER", "number": "FLOAT"}.get(_entry(schema).get("type"), "TEXT")
        return {"type": click.UNPROCESSED, "metavar": metavar, "callback": _checked(model, field)}
    return {"type": _Words(words, parts)}


THREADS_OPTION = setting_option(
    Train, "threads", help="Number of threads; results do not depend on it."
)
SHARDS_OPTION = number_option("--shards", 1, "Number of training jobs that a run is divided into.")


def method_file_options(files):
    """Decorator: an option for each file that a method reads; the command takes those that were
    given as ``files``.
    """
    options = {}
    for name, file in files.items():
        option = "--" + name.replace("_", "-")
        options[name] = file_option(option, name, required=file.required, help=file.help)
    return collect_options("files", options, dict)


def step_options(step, method=ONE_VS_ALL):
    """Decorator: options of all settings that a step reads; the command takes them as one object,
    ``settings``.
    """
    reads = find_reads(step, method)
    model = import_reference(reads.model)
    options = {
        field: setting_option(model, field, reads.options.get(field)) for field in reads.fields
    }
    files = {f"chosen_{name}": name for name in AUTOMATIC_SETTINGS if name in reads.fields}

    def make(given):
        chosen = {name: given.pop(file, None) for file, name in files.items()}
        try:
            settings = model.model_validate(given)
        except ValidationError as error:
            raise click.UsageError(explain_error(error, given, model)) from None
        return apply_choices(settings, chosen)

    return collect_options(
        "settings", options | {file: choice_option(name) for file, name in files.items()}, make
    )


AUTOMATIC_SETTINGS = ("features", "C")  # settings that may be ``auto``


def choice_option(name):
    text = f"Output of `ovaflow choose-{name.lower()}`, for --{name}=auto."
    return file_option(f"--chosen-{name}", f"chosen_{name}", help=text)


def apply_choices(settings, files):
    """Settings with each ``auto`` replaced by the choice in its file."""
    choices = {}
    for name, path in files.items():
        if getattr(settings, name) == "auto":
            if path is None:
                raise click.UsageError(f"--{name}=auto needs --chosen-{name}")
            chosen = read_json(path, name)["chosen"]
            choices[name] = chosen.split("+") if isinstance(chosen, str) else chosen
    return settings.model_copy(update=choices)


def one_or_several(value):
    """One value of a repeatable option, or a list; None if there is none."""
    if not isinstance(value, tuple):
        return value
    if len(value) > 1:
        return list(value)
    return value[0] if value else None


def scratch_option(command):
    """Decorate a command with ``--scratch``; its argument ``dataset`` is then the copy, as long as
    the command runs.
    """

    @click.option(
        "--scratch",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="OVAFLOW_SCRATCH",
        show_envvar=True,
        help="Folder on a local disk, for a copy of the dataset that all jobs of this machine share.",
    )
    @functools.wraps(command)
    def on_copy(dataset, scratch, **arguments):
        from ovaflow.training.staging import copy_to_scratch

        with copy_to_scratch(dataset, scratch) as copy:
            return command(copy, **arguments)

    return on_copy
