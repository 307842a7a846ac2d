"""A machine with only Snakemake: OVAFLOW_SNAKEMAKE_ALONE names the command in such an environment
(.ci/run).
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import split_words
from pipeline_folder import ROOT
from tiny_table import write_config, write_table

SNAKEMAKE = os.environ.get("OVAFLOW_SNAKEMAKE_ALONE")

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(SNAKEMAKE is None, reason="OVAFLOW_SNAKEMAKE_ALONE names no Snakemake"),
]

MODULE = """
module labels:
    snakefile: "git+file://{checkout}/workflow/Snakefile@v1"
    config: {config}

use rule * from labels
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A repository with the files that git has of this one, tagged v1."""
    folder = tmp_path_factory.mktemp("checkout")
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    files = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, files.split("\0")):
        if not name.startswith(("tests/", "docs/")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / "profiles").symlink_to("workflow/profiles")
    author = ["-c", "user.name=ovaflow", "-c", "user.email=ovaflow@example.org"]
    for arguments in (
        ["init", "--quiet"],
        ["add", "."],
        [*author, "commit", "-qm", "all"],
        ["tag", "v1"],
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    return folder


@pytest.fixture
def tiny(tmp_path):
    """A folder with a table and a config of one run."""
    write_table(tmp_path / "records.csv")
    write_config(tmp_path / "my.yaml", runs={"msi": {}}, train={"shards": 1})
    return tmp_path


def snakemake(folder, *arguments, path="/usr/bin:/bin"):
    names = ("OVAFLOW_CACHE", "LANG", "LC_", "TMPDIR")
    kept = {name: value for name, value in os.environ.items() if name.startswith(names)}
    variables = kept | {"PATH": path, "HOME": str(folder)}
    command = [SNAKEMAKE, *split_words(arguments)]
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("option", "said"), [("--lint", "good condition"), ("--dry-run", "train_shard")]
)
def test_a_clean_clone(checkout, option, said) -> None:
    done = snakemake(checkout, option)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout + done.stderr


def test_jobs_run_the_ovaflow_on_the_path(checkout, tiny) -> None:
    (tiny / "bin").mkdir()
    (tiny / "bin" / "ovaflow").symlink_to(Path(sys.executable).with_name("ovaflow"))
    options = [
        "--snakefile",
        str(checkout / "Snakefile"),
        "--configfile",
        "my.yaml",
        "--cores",
        "2",
    ]
    model = "results/tiny/msi/model.h5"
    done = snakemake(tiny, options, model)
    assert done.returncode == 2
    assert "ovaflow: error: no command ovaflow on PATH" in done.stderr
    path = f"{tiny / 'bin'}:/usr/bin:/bin"
    done = snakemake(tiny, options, model, path=path)
    assert done.returncode == 0, done.stderr
    assert (tiny / model).is_file()
    assert "Nothing to be done" in snakemake(tiny, options, model, path=path).stderr


def test_the_module_statement_of_snakedeploy(checkout, tiny) -> None:
    config = yaml.safe_load((tiny / "my.yaml").read_text())
    (tiny / "Snakefile").write_text(MODULE.format(checkout=checkout, config=config))
    done = snakemake(tiny, "--dry-run", "all")
    assert done.returncode == 0, done.stderr
    assert "train_shard" in done.stdout


def test_no_module_is_brought_along_in_vain(checkout, tiny) -> None:
    # what rules import while they are read, and nothing else
    script = (
        "import atexit, sys; from snakemake.cli import main;"
        "atexit.register(lambda: print(*sys.modules)); main(sys.argv[1:])"
    )
    arguments = ["--snakefile", str(checkout / "Snakefile"), "--configfile", "my.yaml", "--summary"]
    python = Path(SNAKEMAKE).with_name("python")
    command = [str(python), "-c", script, *arguments]
    done = subprocess.run(
        command, cwd=tiny, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    names = {name for name in done.stdout.split() if name.partition(".")[0] == "ovaflow"}
    rules = (checkout / "workflow" / "rules" / "modules.smk").read_text(encoding="utf-8")
    listed = ast.literal_eval(
        re.search(r"^MODULES = (\{.*?\n\})", rules, re.DOTALL | re.MULTILINE)[1]
    )
    modules = set()
    for package, module_names in listed.items():
        for name in module_names.split():
            modules.add(f"ovaflow.{package.replace('/', '.')}.{name}")
    assert names == {name.replace("..", ".").removesuffix(".__init__") for name in modules}
