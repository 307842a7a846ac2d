"""Files of the project for other programs: citation, change log, workflow catalogue, editors."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

import ovaflow

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINS = {}
for line in (ROOT / "envs" / "constraints.txt").read_text().splitlines():
    name, version = line.split("==")
    PINS[canonicalize_name(name)] = version
CONFIGS = [ROOT / "config" / "config.yaml", *sorted((ROOT / "config" / "examples").glob("*.yaml"))]


def read_yaml(name) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def test_all_files_have_the_same_version() -> None:
    citation = read_yaml("CITATION.cff")
    assert PROJECT["version"] == citation["version"] == ovaflow.__version__
    assert PROJECT["license"] == citation["license"]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_editors_find_the_schema_of_the_config(path) -> None:
    line = path.read_text().splitlines()[0]
    schema = re.fullmatch(r"# yaml-language-server: \$schema=(.*)", line)
    assert schema is not None
    theirs = ROOT / "workflow" / "schemas" / "config.schema.json"
    assert (path.parent / schema[1]).resolve() == theirs


def test_conda_and_pip_install_the_same_packages() -> None:
    environment = read_yaml("envs/ovaflow.yaml")
    assert set(environment) == {"name", "channels", "dependencies"}
    assert environment["channels"] == ["conda-forge", "bioconda", "nodefaults"]
    pip_names = {
        "matplotlib-base": "matplotlib",
        "python-xxhash": "xxhash",
        "snakemake-minimal": "snakemake",
        "prometheus_client": "prometheus-client",
    }
    conda = {}
    [installed] = environment["dependencies"].pop()["pip"]
    assert installed == f"ovaflow=={ovaflow.__version__}"
    for line in environment["dependencies"]:
        name, _, versions = line.partition(" ")
        conda[pip_names.get(name, name)] = versions
    pip = {}
    for dependency in PROJECT["dependencies"]:
        requirement = Requirement(dependency)
        pip[requirement.name] = str(requirement.specifier)
    assert conda == pip | {"python": PROJECT["requires-python"], "pip": ""}
    for name, specifier in pip.items():
        requirement = Requirement(f"{name}{specifier}")
        assert requirement.specifier.contains(PINS[canonicalize_name(name)]), name


def test_every_pin_has_hashes() -> None:
    """A command in .ci/run makes them."""
    hashes = (ROOT / "envs" / "hashes.txt").read_text()
    hashed = re.findall(r"^(\S+)==(\S+) \\\n    --hash=sha256:", hashes, re.MULTILINE)
    assert dict(hashed) == PINS


def test_the_conda_recipe_is_that_of_the_environment() -> None:
    text = (ROOT / "recipe" / "meta.yaml").read_text()
    rendered = (
        Environment()
        .from_string(text)
        .render(PYTHON="python", pin_subpackage=lambda name, max_pin: name)
    )
    recipe = yaml.safe_load(rendered)
    assert recipe["package"] == {"name": "ovaflow", "version": ovaflow.__version__}
    environment = read_yaml("envs/ovaflow.yaml")["dependencies"]
    assert recipe["requirements"]["run"] == [line for line in environment[:-1] if line != "pip"]


def test_every_job_has_a_conda_environment() -> None:
    for path in (ROOT / "workflow" / "rules").glob("*.smk"):
        for rule in re.split(r"^rule ", path.read_text(), flags=re.MULTILINE)[1:]:
            assert "\n    conda:\n        ENVIRONMENT\n" in rule, rule.partition(":")[0]


@pytest.mark.parametrize(
    "name",
    ["README.md", "LICENSE", "config/README.md", "workflow/Snakefile", ".test/config/config.yaml"],
)
def test_the_workflow_catalogue_finds_its_files(name) -> None:
    assert (ROOT / name).is_file()


def test_the_workflow_catalogue_describes_the_usage() -> None:
    usage = read_yaml(".snakemake-workflow-catalog.yml")["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert usage["software-stack-deployment"]["conda"]


@pytest.mark.parametrize(
    "path", [*CONFIGS, ROOT / ".test" / "config" / "config.yaml"], ids=lambda path: path.parent.name
)
def test_the_schema_without_references(path) -> None:
    schema = ROOT / "workflow" / "schemas" / "config.schema.yaml"
    assert "$ref" not in schema.read_text()
    config = yaml.safe_load(path.read_text())
    validate(config, str(schema), set_default=False)
    for section in (config, *(config[name] for name in config), *config["datasets"].values()):
        section["shardz"] = 1
        with pytest.raises(WorkflowError, match="shardz"):
            validate(config, str(schema), set_default=False)
        del section["shardz"]


def test_the_repository_tests_other_machines() -> None:
    jobs = read_yaml(".github/workflows/tests.yaml")["jobs"]
    for job in ("tests", "workflow"):
        assert {"ubuntu-24.04-arm", "macos-15"} <= set(jobs[job]["strategy"]["matrix"]["os"])


FILES_WITH_METHOD_NAMES = {
    "src/ovaflow/registry.py",
    "workflow/Snakefile",
    "workflow/rules/modules.smk",
}


def test_no_other_file_knows_a_method_by_its_name() -> None:
    named = set()
    paths = [*(ROOT / "src/ovaflow").rglob("*.py"), *(ROOT / "workflow").rglob("*.smk")]
    for path in [*paths, ROOT / "workflow/Snakefile"]:
        place = str(path.relative_to(ROOT))
        # an embedding is called “rembrandt”
        text = path.read_text(encoding="utf-8").replace("“rembrandt”", "")
        is_own = re.match(r"(src/ovaflow/methods|workflow/rules)/(fastxml|rembrandt)\b", place)
        if re.search(r"fastxml|rembrandt", text) and not is_own:
            named.add(place)
    assert named == FILES_WITH_METHOD_NAMES
