# Measurements for figures of the report; models do not depend on them.


rule measure_pruning:
    input:
        dataset=paths.DATASET,
        model=paths.MODEL,
    output:
        in_report(paths.PRUNE_CURVE, "pruning", "quality and size by prune threshold"),
    log:
        "logs/{dataset}/{run}/prune-curve.log",
    benchmark:
        "logs/{dataset}/{run}/prune-curve.tsv"
    params:
        options=settings_of("prune-curve"),
        thresholds=[f"--threshold={threshold}" for threshold in SETTINGS.report.prune_thresholds],
        revision=STEPS["prune-curve"].revision,
    threads: threads_of_run
    resources:
        mem_mb=megabytes(1.4),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow prune-curve {input.model:q} --dataset={input.dataset:q} {params.thresholds:q} {params.options:q}"
        " --threads={threads} --output={output:q} > {log:q} 2>&1"
