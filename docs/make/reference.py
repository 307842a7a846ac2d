"""Write the reference pages and schemas from the code: ``python docs/make/reference.py``.

A test compares them with the code. The page on Python is made only when the site is built: code
hosts show the docstrings in the source.
"""

import inspect
import json
import re
from pathlib import Path
from typing import Any

import click
import yaml
from pydantic import BaseModel

from ovaflow import estimators
from ovaflow.cli import GROUPS, group
from ovaflow.estimators.base import LabelClassifier
from ovaflow.evaluation.metric import ANSWER_KINDS, ANSWER_SCOPE, METRICS
from ovaflow.methods.fastxml.settings import FastXML
from ovaflow.methods.rembrandt.settings import Rembrandt
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.question import Question
from ovaflow.registry import all_steps
from ovaflow.settings.configuration import Config, RunMethod, make_json_schema
from ovaflow.settings.predict import Predict, Report
from ovaflow.settings.prepare import AutoCandidates, Comparison, Prepare
from ovaflow.settings.schema import describe_legal_values, find_schema
from ovaflow.settings.section import setting_info
from ovaflow.settings.source import Source
from ovaflow.settings.train import Evaluate, Train

FOLDER = Path(__file__).parents[1] / "reference"
_EXIT_STATUSES = """| exit status | meaning |
| --- | --- |
| 0 | success |
| 1 | a failure that is no mistake in the input, such as too little memory; also a model that \
`ovaflow promote` refuses |
| 2 | a mistake that the user can mend, in one line: where it is, what is wrong, what to do |
| 130 | Ctrl-C |
| 143 | SIGTERM, of a whole run |
"""
_GENERATED_NOTE = "<!-- written by docs/make/reference.py; edit the code instead -->\n\n"

_SECTIONS = {
    "datasets": (
        Source,
        "An entry has a name, that of its folder in `results/`, and these keys. It can also "
        "override any key of `prepare` and `evaluate`.",
    ),
    "runs": (
        RunMethod,
        "An entry has a name, that of its folder in the dataset's, and these keys. It can also "
        "override any key of `train` and `predict`; with `method: fastxml` any key of "
        "`fastxml` and `predict`, and of `train` only `shards`, `threads` and `weighting`; with "
        "`method: rembrandt` any key of `rembrandt` and `predict`, and of `train` only `shards` "
        "and `threads`.",
    ),
    "prepare": (Prepare, "From raw files to `dataset.h5`."),
    "train": (Train, "From a dataset to a model, `method: one-vs-all`."),
    "fastxml": (
        FastXML,
        "How `method: fastxml` grows its trees: see [FastXML](../explanation/fastxml.md).",
    ),
    "rembrandt": (
        Rembrandt,
        "How `method: rembrandt` embeds and decodes labels: see "
        "[Rembrandt](../explanation/rembrandt.md).",
    ),
    "tune": (
        Comparison,
        "How `features: auto` and `C: auto` are "
        "[chosen](../how-to/choose-settings.md#choose-features-and-c); test instances play no "
        "part.",
    ),
    "tune.candidates": (AutoCandidates, "What they are chosen from."),
    "predict": (Predict, "From a model to predictions."),
    "evaluate": (Evaluate, "From predictions to [metrics](metrics.md)."),
    "report": (Report, "The report page."),
}


def config_page() -> str:
    """Make the page of all keys of the config file."""
    missing = set(Config.model_fields) - set(_SECTIONS)
    if missing:
        raise ValueError(f"sections without a description: {missing}")
    parts = [
        "# Config\n\n"
        + _GENERATED_NOTE
        + "A config file is YAML. Its `datasets` and `runs` replace the default ones; in the "
        "other sections the keys that it names change, the rest keep their defaults. Paths are "
        "relative to the folder where the pipeline is called. A wrong key or value is rejected in "
        "one line that says what is legal. Names that YAML takes for numbers, dates or truth "
        "values, such as 250.10, 010 and NO, must be in quotes. "
        "[config/config.yaml](../../config/config.yaml) says when to change a value, "
        "[config/examples](../../config/examples) has whole files, and editors complete and check "
        "keys with [the JSON schema](../../workflow/schemas/config.schema.json).\n\n"
        "On the command line: `ovaflow run my.yaml --config 'train={C: 2, prune: 0.05}'`.\n"
    ]
    for section, (model, description) in _SECTIONS.items():
        parts += [f"\n## {section}\n\n{description}\n\n", _format_fields(model, "key")]
    return "".join(parts)


def _format_fields(model: type[BaseModel], kind: str) -> str:
    """Format the fields of a model as a table."""
    rows = [f"| {kind} | default | legal values | what it does |\n| --- | --- | --- | --- |\n"]
    for key, field in model.model_fields.items():
        shown = "required" if field.is_required() else f"`{json.dumps(field.default)}`"
        legal = describe_legal_values(find_schema(model, [key])).replace("|", "\\|")
        rows.append(f"| `{key}` | {shown} | {legal} | {field.description} |\n")
    return "".join(rows)


_VERBATIM = "\b\n"
_READ_DEFAULT = "; by default as the model's data were read."


def commands_page() -> str:
    """Make the page of all subcommands with their arguments and options."""
    parts = [
        "# Commands\n\n"
        + _GENERATED_NOTE
        + "Every step of the pipeline is a subcommand of `ovaflow` and also works without "
        "Snakemake: files in, files out. "
        "Options that are settings are described with the [config](config.md); "
        "`ovaflow COMMAND --help` prints all.\n\n" + _EXIT_STATUSES
    ]
    for title, names in GROUPS.items():
        parts.append(f"\n| {title.lower()} | |\n| --- | --- |\n")
        parts += [f"| [{name}](#ovaflow-{name}) | {all_steps()[name].help} |\n" for name in names]
    context = click.Context(group, info_name="ovaflow")
    for name in (*GROUPS["Commands"], *GROUPS["Steps of the pipeline"]):
        parts.append(
            _format_command(group.get_command(context, name), f"ovaflow {name}", context, "##")
        )
    return "".join(parts)


def _format_command(command: click.Command, path: str, parent: click.Context, level: str) -> str:
    context = click.Context(command, info_name=path.split()[-1], parent=parent)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    parts = [f"\n{level} {path}\n\n`{usage}`\n\n{_format_help(command)}\n"]
    settings = {}
    rows = []
    for parameter in command.params:
        place = _find_section(parameter)
        if place is not None:
            settings.setdefault(place, []).append(f"`{parameter.opts[0]}`")
            continue
        row = _format_option(parameter, context)
        if row is not None:
            rows.append(row)
    parts += [f"\n{place}: {', '.join(names)}.\n" for place, names in settings.items()]
    if rows:
        parts.append(
            "\n| option | value | default | what it does |\n| --- | --- | --- | --- |\n"
            + "".join(rows)
        )
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            parts.append(
                _format_command(
                    command.get_command(context, name), f"{path} {name}", context, f"{level}#"
                )
            )
    return "".join(parts)


def _format_help(command: click.Command) -> str:
    """Format a command's help, with examples, which click prints verbatim, as blocks."""
    paragraphs = []
    for text in re.split(r"\n{2,}", inspect.cleandoc(command.help or "")):
        if text.startswith(_VERBATIM):
            paragraphs.append(f"```text\n{text.removeprefix(_VERBATIM).strip()}\n```")
        else:
            paragraphs.append(_escape(text))
    return "\n\n".join(paragraphs)


def _find_section(parameter: click.Parameter) -> str | None:
    """Link to the section of the config's page that describes an option; None for arguments and
    options that are no settings.
    """
    if not isinstance(parameter, click.Option) or parameter.hidden:
        return None
    for section, (model, _) in _SECTIONS.items():
        field = model.model_fields.get(parameter.name)
        if field is None or model is Source:
            continue
        sentence = setting_info(field).full_sentence.lower()
        if (parameter.help or "").lower().startswith(sentence):
            as_read = parameter.help.endswith(_READ_DEFAULT)
            link = f"Settings of [{section}](config.md#{section.replace('.', '')})"
            return link + _READ_DEFAULT.rstrip(".") if as_read else link
    return None


def _format_option(option: click.Parameter, context: click.Context) -> str | None:
    if not isinstance(option, click.Option) or option.hidden:
        return None
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else _escape(option.make_metavar(context))
    default = option.get_default(context, call=False)
    if isinstance(default, list) and len(default) == 1:
        default = default[0]
    shown = ""
    if option.required:
        shown = "required"
    elif _is_shown(default, option):
        shown = f"`{_format_default(default)}`"
    return f"| {names} | {value} | {shown} | {_escape(option.help or '')} |\n"


def _is_shown(default: Any, option: click.Option) -> bool:
    return isinstance(default, bool | int | float | str) and not (
        option.is_flag and default is False
    )


def _format_default(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _escape(text: str) -> str:
    return re.sub(r"([|<>*])", r"\\\1", text)


_CLASSIFIER_METHODS = (
    "fit",
    "predict",
    "predict_topk",
    "predict_proba",
    "decision_function",
    "precision_at_k",
    "score",
    "save",
    "load",
)
_TEXT_FEATURES = ("fit", "fit_transform", "transform", "get_feature_names_out")
_PREDICTOR = (
    "open",
    "prepare",
    "from_texts",
    "from_features",
    "from_split",
    "answer",
    "allowed",
    "in_language",
    "top_k",
    "scores",
    "label_names",
    "feature_names",
)


def python_page() -> str:
    """Make the page of the classes that programs use."""
    parts = [
        "# Python\n\nWhat programs can rely on; everything else may change with any version. "
        "How to use it: [ovaflow in Python](../python.md).\n"
    ]
    for name in ("OneVsAllClassifier", "FastXMLClassifier", "RembrandtClassifier"):
        parts.append(_format_class(getattr(estimators, name), f"ovaflow.{name}", ()))
    parts.append("\n## What the three classifiers share\n\n" + _format_docstring(LabelClassifier))
    parts += [_format_method(LabelClassifier, name) for name in _CLASSIFIER_METHODS]
    parts.append(_format_class(estimators.TextFeatures, "ovaflow.TextFeatures", _TEXT_FEATURES))
    parts.append(
        _format_class(estimators.precision_at_k_scorer, "ovaflow.precision_at_k_scorer", ())
    )
    parts.append(_format_class(estimators.f1_scorer, "ovaflow.f1_scorer", ()))
    parts.append(_format_class(Predictor, "ovaflow.prediction.predictor.Predictor", _PREDICTOR))
    parts.append(
        "\n## Question\n\nWhat `answer` takes, and what the command line and the service ask, "
        "too.\n\n"
    )
    parts.append(_format_fields(Question, "field"))
    return "".join(parts)


def _format_class(found: Any, path: str, methods: tuple[str, ...]) -> str:
    head = f"\n## {path.rsplit('.', 1)[-1]}\n\n```text\n{_format_signature(path, found)}\n```\n\n"
    return (
        head + _format_docstring(found) + "".join(_format_method(found, name) for name in methods)
    )


def _format_method(owner: type, name: str) -> str:
    found = inspect.getattr_static(owner, name)
    if isinstance(found, property):
        return f"\n### {name}\n\n" + _format_docstring(found.fget)
    method = getattr(owner, name)
    if not callable(method):
        return f"\n### {name}\n\n" + _format_docstring(found)
    signature = _format_signature(name, method)
    return f"\n### {name}\n\n```text\n{signature}\n```\n\n" + _format_docstring(method)


def _format_signature(name: str, found: Any) -> str:
    parameters = []
    for parameter in inspect.signature(found).parameters.values():
        if parameter.name != "self":
            parameters.append(str(parameter.replace(annotation=inspect.Parameter.empty)))
    return f"{name}({', '.join(parameters)})"


def _format_docstring(found: Any) -> str:
    """Format a docstring in NumPy's style as Markdown."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", inspect.getdoc(found)).replace("``", "`")
    head, *sections = re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    written = head.strip() + "\n"
    for name, content in zip(sections[::2], sections[1::2], strict=True):
        written += f"\n**{name}**\n\n"
        for entry in re.split(r"\n(?=\S)", content.strip("\n")):
            written += _format_entry(entry)
    return written


def _format_entry(text: str) -> str:
    head, _, rest = text.partition("\n")
    names, _, kind = head.partition(" : ")
    description = " ".join(rest.split())
    entry = f"* `{names}`"
    if kind:
        entry += f" ({kind})"
    if description:
        entry += f": {description}"
    return entry + "\n"


_TABLE = re.compile("(<!-- the table is written .*-->\\n).*(<!-- end of the table -->)", re.DOTALL)


def metrics_page() -> str:
    """Fill the table of the page on metrics."""
    rows = ["| name | formula | meaning | better |\n| --- | --- | --- | --- |\n"]
    for metric in METRICS:
        ends = ANSWER_KINDS if metric.scope == ANSWER_SCOPE else ("",)
        names = (
            [metric.title]
            if metric.scope != ANSWER_SCOPE
            else [f"{metric.name}-{end}" for end in ends]
        )
        formula = f"${metric.formula}$" if metric.formula else ""
        better = {True: "higher", False: "lower", None: ""}[metric.larger_is_better]
        shown = ", ".join(f"`{name}`" for name in names)
        rows.append(f"| {shown} | {formula} | {metric.sentence} | {better} |\n")
    text = (FOLDER / "metrics.md").read_text(encoding="utf-8")
    return _TABLE.sub(lambda found: found[1] + "".join(rows) + found[2], text)


def flat_schema() -> str:
    """Make the schema of a config without references, for the table in Snakemake's workflow
    catalogue.
    """
    schema = json.loads(make_json_schema())
    definitions = schema.pop("$defs")
    return "# written by docs/make/reference.py; edit the code instead\n" + yaml.safe_dump(
        _flatten_schema(schema, definitions), sort_keys=False, allow_unicode=True, width=120
    )


def _flatten_schema(schema: dict, definitions: dict) -> dict:
    """Replace references in a schema by what they refer to, and alternatives by their types."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        schema = definitions[name] | {key: schema[key] for key in schema if key != "$ref"}
    flat = {key: schema[key] for key in schema if key not in ("anyOf", "items", "title")}
    for key in ("properties", "patternProperties"):
        if key in flat:
            flat[key] = {
                name: _flatten_schema(each, definitions) for name, each in flat[key].items()
            }
    if "anyOf" in schema:
        types = [_flatten_schema(each, definitions)["type"] for each in schema["anyOf"]]
        flat["type"] = list(dict.fromkeys(types))
    return flat


PAGES = {
    "config.md": config_page,
    "commands.md": commands_page,
    "metrics.md": metrics_page,
    "../../workflow/schemas/config.schema.json": make_json_schema,
    "../../workflow/schemas/config.schema.yaml": flat_schema,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
