# ovaflow: from raw text or sparse features to sparse one-vs-all models and a report.
# snakemake --cores all                             the default run, see config/config.yaml
# snakemake --cores all --configfile my.yaml        your own data and runs
import atexit

from snakemake.utils import min_version

min_version("9.0")


# of Snakemake's own report: snakemake --report report.html
report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/artifacts.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/fastxml.smk"
include: "workflow/rules/rembrandt.smk"
include: "workflow/rules/predict.smk"
include: "workflow/rules/calibrate.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        "results/.warm-up",
        "results/report.html",
    localrule: True


onstart:
    # for the terminal, which shows a line for each stage of each dataset and run
    logger.info(
        "", extra={"jobs_by_place": [(job.rule.name, dict(job.wildcards)) for job in workflow.dag.needrun_jobs()]}
    )


onsuccess:
    if Path("results/report.html").exists():
        # at exit, so that it is the last line and stands out
        atexit.register(print, f"The report is ready: {Path('results/report.html').resolve()}")
