# ovaflow's modules that say which jobs there are: the installed ones, else those that come with this workflow; no rules.
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

# jobs run the installed ovaflow too, or else the one on their PATH, in their conda environment or container
IS_INSTALLED = find_spec("ovaflow") is not None

# modules that the rules import, by package, and the files that these read
MODULES = {
    "": "__init__ registry removed steps workflow",
    "console": "__init__ errors",
    "dataset": "__init__ sizes",
    "estimate": "__init__ demand shards",
    "methods": "__init__",
    "methods/fastxml": "__init__ method settings",
    "methods/one_vs_all": "__init__ method",
    "methods/rembrandt": "__init__ demand files method settings",
    "reading": "__init__ columns feature_columns foreign formats streams",
    "records": "__init__ catalogue",
    "results": "__init__ best_run",
    "settings": "__init__ chains config configuration inputs paths predict prepare schema section source suggestion_sources spelling train",
    "sparse": "__init__ fingerprint",
    "storage": "__init__ errors opening texts writing",
    "training": "__init__ evenly_divided method",
}
FILES = ["Snakefile", "config/datasets.yaml"]


def fetch_modules(folder):
    """Copy the modules to a folder, from a checkout or from the repository that a module statement names."""
    modules = [
        str(Path("src/ovaflow", package, f"{name}.py"))
        for package, names in MODULES.items()
        for name in names.split()
    ]
    for name in modules + FILES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # jobs that start together each make one, and the last one stays
        made = path.with_suffix(f".{os.getpid()}")
        shutil.copyfile(workflow.source_path(f"../../{name}"), made)
        made.replace(path)


if not IS_INSTALLED:
    # the first that brings pydantic
    min_version("9.17")
    fetch_modules(Path(".snakemake", "ovaflow"))
    sys.path.append(str(Path(".snakemake", "ovaflow", "src").resolve()))
