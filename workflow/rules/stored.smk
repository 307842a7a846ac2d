# Files in storage, where --default-storage-provider has Snakemake keep them (docs/machines.md); no rules.
import json
from types import SimpleNamespace

from ovaflow.results.best_run import find_best_run
from ovaflow.workflow import fetch
from snakemake.settings.types import SharedFSUsage

SHARED = workflow.storage_settings.shared_fs_usage
IN_STORAGE = workflow.storage_settings.default_storage_provider is not None
# compiled kernels are not in storage
WARMED_UP = local(paths.WARMED_UP) if IN_STORAGE else paths.WARMED_UP


def find_warm_up(wildcards):
    """Find the warm-up, if jobs find the kernels that it compiles."""
    return WARMED_UP if workflow.local_exec or SharedFSUsage.SOFTWARE_DEPLOYMENT in SHARED else []


def find_address(path):
    """Find the path or address at which a user finds a file."""
    file = workflow.inputfile(path)
    return file.storage_object.query if file.is_storage else Path(path).resolve()


def describe_prediction(dataset):
    """Return the last line of a run: the command that predicts with the best run of a dataset."""
    runs = [read_run(dataset, name) for name in SETTINGS.runs]
    best = find_best_run(runs) or runs[0]
    which = ""
    if len(runs) > 1 and best.metrics:
        which = f" by the best run, {best.name}"
    model = paths.MODEL.format(dataset=dataset, run=best.name)
    place = f"{model} FILE"
    if IN_STORAGE:
        address = find_address(model)
        place = f"{address} FILE"
        if not Path(address).exists():
            place = f"model.h5 FILE, in a copy of {os.path.dirname(address)}"
    return f"Labels of new records{which}: ovaflow predict {place}"


def read_run(dataset, name):
    """Read the metrics of a run, empty if it has none."""
    path = paths.METRICS.format(dataset=dataset, run=name)
    metrics = {}
    if exists(path):
        file = workflow.inputfile(path)
        was_here = Path(file).exists()
        metrics = json.loads(Path(fetch_if_stored(file)).read_text(encoding="utf-8"))
        if not was_here:
            Path(file).unlink()
            os.removedirs(Path(file).parent)
    return SimpleNamespace(name=name, metrics=metrics)


def fetch_if_stored(file):
    """Fetch a small file that is only in storage, for Snakemake itself."""
    if file.is_storage and not Path(file).exists():
        fetch(file)
    return file


def list_local_copies(jobs):
    """List where the files of jobs are on this machine, and whether they must be fetched, for the logger."""
    if not IN_STORAGE:
        return {}
    copies = {}
    shared = SharedFSUsage.STORAGE_LOCAL_COPIES in SHARED
    for job in jobs:
        elsewhere = not (shared or workflow.local_exec or job.is_local)
        copies[job.jobid] = {
            "log": list(job.log),
            "output": list(job.output),
            "elsewhere": elsewhere,
        }
    return copies
