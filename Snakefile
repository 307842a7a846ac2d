# ovaflow: from raw text or sparse features to sparse one-vs-all models and a report.
# snakemake --cores all                             the default run, see config/config.yaml
# snakemake --cores all --configfile my.yaml        your own data and runs
include: "workflow/Snakefile"


# an include keeps the default target of the including file, which has none
if not IS_MODULE:
    workflow.default_target = "all"
