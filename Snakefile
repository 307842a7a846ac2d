# ovaflow: from raw text or sparse features to sparse one-vs-all models and a report.
# snakemake --cores all                             the default run, see config/config.yaml
# snakemake --cores all --configfile my.yaml        your own data and runs
import atexit

from ovaflow.steps import METHODS
from ovaflow.workflow import end_by_signals, record_owner
from snakemake.utils import min_version

min_version("9.0")


# introduction of Snakemake's own report: snakemake --report report.html
report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/files.smk"
include: "workflow/rules/resources.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/artifacts.smk"


for method in METHODS:

    include: f"workflow/rules/{method.replace('-', '_')}.smk"


include: "workflow/rules/predict.smk"
include: "workflow/rules/rerank.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        paths.WARMED_UP,
        paths.REPORT,
        # a model that somebody deleted is made again, though the report is there
        rules.write_report.input.runs,
        rules.write_report.input.reliability,
    localrule: True


onstart:
    jobs = list(workflow.dag.needrun_jobs())
    # for the logger, which shows one line for each rule of each dataset and run
    logger.info("", extra={"stage_names": {job.jobid: stage_of(job) for job in jobs}})
    others = paths.other_runs(SETTINGS)
    if others and Path(paths.REPORT).exists() and any(job.rule.name == "write_report" for job in jobs):
        names = ", ".join(others[:5]) + ", ..." * (len(others) > 5)
        logger.warning(
            f"{paths.REPORT} will be about this config alone, without {names}; a folder for each config keeps its report"
        )
    record_owner()
    end_by_signals(workflow.local_exec)


onsuccess:
    if Path(paths.REPORT).exists():
        model = paths.MODEL.format(dataset=next(iter(SETTINGS.datasets)), run=next(iter(SETTINGS.runs)))
        # at exit, so that these are the last lines
        atexit.register(print, f"The report is ready: {Path('results/report.html').resolve()}")
        atexit.register(print, f"Labels of new records: ovaflow predict {model} FILE")
