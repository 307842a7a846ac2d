# A measurement for a figure of the report.


rule measure_trees:
    input:
        dataset=paths.DATASET,
        model=paths.MODEL,
    output:
        in_report(f"{paths.OF_RUN}/{STEPS['tree-curve'].figure}", "trees", "quality by number of trees"),
    log:
        "logs/{dataset}/{run}/tree-curve.log",
    benchmark:
        "logs/{dataset}/{run}/tree-curve.tsv"
    params:
        options=settings_of("tree-curve"),
        revision=STEPS["tree-curve"].revision,
    threads: threads_of_run
    resources:
        mem_mb=megabytes(2),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow tree-curve {input.model:q} --dataset={input.dataset:q} {params.options:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"


# Profiles may name these jobs as before all methods shared their rules.
if "estimate_trees" in NAMED_BY_PROFILE:

    ruleorder: estimate_trees > estimate_training

    use rule estimate_training as estimate_trees with:
        wildcard_constraints:
            problem=r"fastxml-\w+",


if "train_trees" in NAMED_BY_PROFILE:

    ruleorder: train_trees > train_shard

    use rule train_shard as train_trees with:
        wildcard_constraints:
            run=one_of(SETTINGS.runs_of("fastxml")),


if "merge_trees" in NAMED_BY_PROFILE:

    ruleorder: merge_trees > merge_shards

    use rule merge_shards as merge_trees with:
        wildcard_constraints:
            run=one_of(SETTINGS.runs_of("fastxml")),
