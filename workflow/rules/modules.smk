# ovaflow's modules that say which jobs there are: the installed ones, else those that come with this workflow; no rules.
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

# jobs run the installed ovaflow too, or else the one on their PATH, in their conda environment or container
IS_INSTALLED = find_spec("ovaflow") is not None

# what the rules import, and the files that it reads
MODULES = """
src/ovaflow/__init__.py
src/ovaflow/console/__init__.py
src/ovaflow/console/errors.py
src/ovaflow/data/__init__.py
src/ovaflow/data/catalogue.py
src/ovaflow/data/sizes.py
src/ovaflow/estimate/__init__.py
src/ovaflow/estimate/demand.py
src/ovaflow/estimate/shards.py
src/ovaflow/fastxml/__init__.py
src/ovaflow/fastxml/method.py
src/ovaflow/fastxml/settings.py
src/ovaflow/methods.py
src/ovaflow/one_vs_all/__init__.py
src/ovaflow/one_vs_all/method.py
src/ovaflow/reading/__init__.py
src/ovaflow/reading/columns.py
src/ovaflow/reading/foreign.py
src/ovaflow/reading/formats.py
src/ovaflow/reading/streams.py
src/ovaflow/rembrandt/__init__.py
src/ovaflow/rembrandt/demand.py
src/ovaflow/rembrandt/files.py
src/ovaflow/rembrandt/method.py
src/ovaflow/rembrandt/settings.py
src/ovaflow/settings/__init__.py
src/ovaflow/settings/chains.py
src/ovaflow/settings/config.py
src/ovaflow/settings/configuration.py
src/ovaflow/settings/inputs.py
src/ovaflow/settings/paths.py
src/ovaflow/settings/predict.py
src/ovaflow/settings/prepare.py
src/ovaflow/settings/schema.py
src/ovaflow/settings/section.py
src/ovaflow/settings/source.py
src/ovaflow/settings/suggestion_sources.py
src/ovaflow/settings/spelling.py
src/ovaflow/settings/train.py
src/ovaflow/sparse/__init__.py
src/ovaflow/sparse/fingerprint.py
src/ovaflow/steps.py
src/ovaflow/storage/__init__.py
src/ovaflow/storage/errors.py
src/ovaflow/storage/opening.py
src/ovaflow/storage/texts.py
src/ovaflow/storage/writing.py
src/ovaflow/training/__init__.py
src/ovaflow/training/even_division.py
src/ovaflow/training/method.py
src/ovaflow/workflow.py
Snakefile
config/datasets.yaml
config/published.tsv
"""


def fetch_modules(folder):
    """Copy the modules to a folder, from a checkout or from the repository that a module statement names."""
    for name in MODULES.split():
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
