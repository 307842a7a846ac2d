"""Write the reference pages from the code: ``python docs/make/reference.py``. A test compares both.

The page on Python is made only when the site is built: code hosts show the docstrings in the
source.
"""

import inspect
import json
import re
from pathlib import Path

import click
import yaml

from ovaflow import estimators
from ovaflow.cli import GROUPS, group
from ovaflow.estimators.base import LabelClassifier
from ovaflow.evaluation.metric import ANSWER_KINDS, ANSWER_SCOPE, METRICS
from ovaflow.methods.fastxml.settings import FastXML
from ovaflow.methods.rembrandt.settings import Rembrandt
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.question import Question
from ovaflow.registry import all_steps
from ovaflow.settings.configuration import Config, RunMethod
from ovaflow.settings.predict import Predict, Report
from ovaflow.settings.prepare import AutoCandidates, Comparison, Prepare
from ovaflow.settings.schema import describe_legal_values, find_schema, json_schema
from ovaflow.settings.section import setting_info
from ovaflow.settings.source import Source
from ovaflow.settings.train import Evaluate, Train

FOLDER = Path(__file__).parents[1] / "reference"
_MADE = "<!-- written by docs/make/reference.py; edit the code instead -->\n\n"

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


def config_page():
    """Every key of the config file."""
    missing = set(Config.model_fields) - set(_SECTIONS)
    if missing:
        raise ValueError(f"sections without a description: {missing}")
    parts = [
        "# Config\n\n"
        + _MADE
        + "A config file is YAML. Its `datasets` and `runs` replace the default ones; in the "
        "other sections the keys that it names change, the rest keep their defaults. Paths are relative to the folder "
        "where the pipeline is called. A wrong key or value is rejected in one line that says what is legal. "
        "Names that YAML takes for numbers, dates or truth values, such as 250.10, 010 and NO, must be in quotes. "
        "[config/config.yaml](../../config/config.yaml) says when to change a value, "
        "[config/examples](../../config/examples) has whole files, and editors complete and check keys with "
        "[the JSON schema](../../workflow/schemas/config.schema.json).\n\n"
        "On the command line: `ovaflow run my.yaml --config 'train={C: 2, prune: 0.05}'`.\n"
    ]
    for section, (model, said) in _SECTIONS.items():
        parts += [f"\n## {section}\n\n{said}\n\n", _keys(model, "key")]
    return "".join(parts)


def _keys(model, kind):
    """A table of the fields of a model."""
    rows = [f"| {kind} | default | legal values | what it does |\n| --- | --- | --- | --- |\n"]
    for key, field in model.model_fields.items():
        shown = "required" if field.is_required() else f"`{json.dumps(field.default)}`"
        legal = describe_legal_values(find_schema(model, [key])).replace("|", "\\|")
        rows.append(f"| `{key}` | {shown} | {legal} | {field.description} |\n")
    return "".join(rows)


_AS_IT_IS = "\b\n"
_AS_READ = "; by default as the model's data were read."


def commands_page():
    """Every subcommand with its arguments and options."""
    parts = [
        "# Commands\n\n"
        + _MADE
        + "Every step of the pipeline is a subcommand of `ovaflow` and also works without Snakemake: "
        "files in, files out. The exit status is 0 on success, 2 if the input is wrong (one line says where, what, and "
        "what to do), 1 if something else failed, 130 after Ctrl-C, of a run 143 after SIGTERM. "
        "Options that are settings are described with the [config](config.md); `ovaflow COMMAND --help` prints all.\n"
    ]
    for title, names in GROUPS.items():
        parts.append(f"\n| {title.lower()} | |\n| --- | --- |\n")
        parts += [f"| [{name}](#ovaflow-{name}) | {all_steps()[name].help} |\n" for name in names]
    context = click.Context(group, info_name="ovaflow")
    for name in (*GROUPS["Commands"], *GROUPS["Steps of the pipeline"]):
        parts.append(_command(group.get_command(context, name), f"ovaflow {name}", context, "##"))
    return "".join(parts)


def _command(command, path, parent, level):
    context = click.Context(command, info_name=path.split()[-1], parent=parent)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    parts = [f"\n{level} {path}\n\n`{usage}`\n\n{_said(command)}\n"]
    settings, rows = {}, []
    for parameter in command.params:
        if place := _place_of(parameter):
            settings.setdefault(place, []).append(f"`{parameter.opts[0]}`")
        elif row := _option(parameter, context):
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
                _command(command.get_command(context, name), f"{path} {name}", context, f"{level}#")
            )
    return "".join(parts)


def _said(command):
    """A command's help, with examples, which click leaves as they are, as blocks."""
    paragraphs = re.split(r"\n{2,}", inspect.cleandoc(command.help or ""))
    return "\n\n".join(
        f"```text\n{text.removeprefix(_AS_IT_IS).strip()}\n```"
        if text.startswith(_AS_IT_IS)
        else _escaped(text)
        for text in paragraphs
    )


def _place_of(parameter):
    """Where the config's page describes an option that is a setting; None for other options and
    arguments.
    """
    if not isinstance(parameter, click.Option) or parameter.hidden:
        return None
    for section, (model, _) in _SECTIONS.items():
        field = model.model_fields.get(parameter.name)
        if field is None or model is Source:
            continue
        sentence = setting_info(field).full_sentence.lower()
        if (parameter.help or "").lower().startswith(sentence):
            as_read = parameter.help.endswith(_AS_READ)
            link = f"[{section}](config.md#{section.replace('.', '')})"
            return f"Settings of {link}{_AS_READ.rstrip('.') if as_read else ''}"
    return None


def _option(option, context):
    if not isinstance(option, click.Option) or option.hidden:
        return None
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else _escaped(option.make_metavar(context))
    default = option.get_default(context, call=False)
    default = default[0] if isinstance(default, list) and len(default) == 1 else default
    told = (
        "required"
        if option.required
        else f"`{_plain(default)}`"
        if _is_told(default, option)
        else ""
    )
    return f"| {names} | {value} | {told} | {_escaped(option.help or '')} |\n"


def _is_told(default, option):
    return isinstance(default, bool | int | float | str) and not (
        option.is_flag and default is False
    )


def _plain(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def _escaped(text):
    return re.sub(r"([|<>*])", r"\\\1", text)


_METHODS = (
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


def python_page():
    """The classes that programs use."""
    parts = [
        "# Python\n\nWhat programs can rely on; everything else may change with any version. "
        "How to use it: [ovaflow in Python](../python.md).\n"
    ]
    for name in ("OneVsAllClassifier", "FastXMLClassifier", "RembrandtClassifier"):
        parts.append(_class(getattr(estimators, name), f"ovaflow.{name}", ()))
    parts.append("\n## What the three classifiers share\n\n" + _numpydoc(LabelClassifier))
    parts += [_method(LabelClassifier, name) for name in _METHODS]
    parts.append(_class(estimators.TextFeatures, "ovaflow.TextFeatures", _TEXT_FEATURES))
    parts.append(_class(estimators.precision_at_k_scorer, "ovaflow.precision_at_k_scorer", ()))
    parts.append(_class(estimators.f1_scorer, "ovaflow.f1_scorer", ()))
    parts.append(_class(Predictor, "ovaflow.prediction.predictor.Predictor", _PREDICTOR))
    parts.append(
        "\n## Question\n\nWhat `answer` takes, and what the command line and the service ask, too.\n\n"
    )
    parts.append(_keys(Question, "field"))
    return "".join(parts)


def _class(found, path, methods):
    head = f"\n## {path.rsplit('.', 1)[-1]}\n\n```text\n{_signature(path, found)}\n```\n\n"
    return head + _numpydoc(found) + "".join(_method(found, name) for name in methods)


def _method(owner, name):
    found = inspect.getattr_static(owner, name)
    if isinstance(found, property) or not callable(getattr(owner, name)):
        return f"\n### {name}\n\n" + _numpydoc(
            getattr(found, "fget", found) if isinstance(found, property) else found
        )
    return (
        f"\n### {name}\n\n```text\n{_signature(name, getattr(owner, name))}\n```\n\n"
        + _numpydoc(getattr(owner, name))
    )


def _signature(name, found):
    parameters = [
        each for each in inspect.signature(found).parameters.values() if each.name != "self"
    ]
    return f"{name}({', '.join(str(each.replace(annotation=inspect.Parameter.empty)) for each in parameters)})"


def _numpydoc(found):
    """Markdown of a docstring in NumPy's style."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", inspect.getdoc(found)).replace("``", "`")
    head, *sections = re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    written = head.strip() + "\n"
    for name, content in zip(sections[::2], sections[1::2], strict=True):
        written += f"\n**{name}**\n\n" + "".join(
            map(_entry, re.split(r"\n(?=\S)", content.strip("\n")))
        )
    return written


def _entry(text):
    head, _, rest = text.partition("\n")
    names, _, kind = head.partition(" : ")
    said = " ".join(rest.split())
    return f"* `{names}`" + (f" ({kind})" if kind else "") + (f": {said}" if said else "") + "\n"


_TABLE = re.compile("(<!-- the table is written .*-->\\n).*(<!-- end of the table -->)", re.DOTALL)


def metrics_page():
    """The page on metrics, with its table."""
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


def flat_schema():
    """The schema of a config without references, of which Snakemake's workflow catalogue makes a
    table.
    """
    schema = json.loads(json_schema())
    definitions = schema.pop("$defs")
    return "# written by docs/make/reference.py; edit the code instead\n" + yaml.safe_dump(
        _flat(schema, definitions), sort_keys=False, allow_unicode=True, width=120
    )


def _flat(schema, definitions):
    """A schema with what it refers to in its place, and of alternatives only their types."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        schema = definitions[name] | {key: schema[key] for key in schema if key != "$ref"}
    flat = {key: schema[key] for key in schema if key not in ("anyOf", "items", "title")}
    for key in ("properties", "patternProperties"):
        if key in flat:
            flat[key] = {name: _flat(each, definitions) for name, each in flat[key].items()}
    if "anyOf" in schema:
        types = [_flat(each, definitions)["type"] for each in schema["anyOf"]]
        flat["type"] = list(dict.fromkeys(types))
    return flat


PAGES = {
    "config.md": config_page,
    "commands.md": commands_page,
    "metrics.md": metrics_page,
    "../../workflow/schemas/config.schema.yaml": flat_schema,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
