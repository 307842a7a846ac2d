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


def warmed_up(wildcards):
    """The warm-up, where jobs find the kernels that it compiles."""
    return WARMED_UP if workflow.local_exec or SharedFSUsage.SOFTWARE_DEPLOYMENT in SHARED else []


def address_of(path):
    """Where a user finds a file."""
    file = workflow.inputfile(path)
    return file.storage_object.query if file.is_storage else Path(path).resolve()


def how_to_predict(dataset):
    """The last line of a run: how the best run of a dataset predicts."""
    runs = [measured_run(dataset, name) for name in SETTINGS.runs]
    best = find_best_run(runs) or runs[0]
    which = ""
    if len(runs) > 1 and best.metrics:
        which = f" by the best run, {best.name}"
    model = paths.MODEL.format(dataset=dataset, run=best.name)
    place = f"{model} FILE"
    if IN_STORAGE:
        address = address_of(model)
        place = f"{address} FILE"
        if not Path(address).exists():
            place = f"model.h5 FILE, in a copy of {os.path.dirname(address)}"
    return f"Labels of new records{which}: ovaflow predict {place}"


def measured_run(dataset, name):
    """A run with its metrics, which are empty where there are none."""
    path = paths.METRICS.format(dataset=dataset, run=name)
    metrics = {}
    if exists(path):
        file = workflow.inputfile(path)
        was_here = Path(file).exists()
        metrics = json.loads(Path(fetched(file)).read_text(encoding="utf-8"))
        if not was_here:
            Path(file).unlink()
            os.removedirs(Path(file).parent)
    return SimpleNamespace(name=name, metrics=metrics)


def fetched(file):
    """A small file that Snakemake itself reads, which may be in storage alone."""
    if file.is_storage and not Path(file).exists():
        fetch(file)
    return file


def local_copies(jobs):
    """For the logger: where the files of jobs are on this machine, and whether they must be fetched."""
    if not IN_STORAGE:
        return {}
    copies, shared = {}, SharedFSUsage.STORAGE_LOCAL_COPIES in SHARED
    for job in jobs:
        elsewhere = not (shared or workflow.local_exec or job.is_local)
        copies[job.jobid] = {
            "log": list(job.log),
            "output": list(job.output),
            "elsewhere": elsewhere,
        }
    return copies
