# Measurements for figures of the report; models do not depend on them.


rule trace_labels:
    input:
        unpack(chosen_C),
        dataset=paths.DATASET,
        means=paths.MEANS,
        earlier=lambda wildcards: chains.earlier_model(SETTINGS, wildcards.dataset, wildcards.run) or [],
    output:
        paths.TRACE,
    log:
        "logs/{dataset}/{run}/trace.log",
    benchmark:
        "logs/{dataset}/{run}/trace.tsv"
    params:
        chosen=lambda wildcards, input: options_of(chosen_C(wildcards), input),
        options=settings_of("trace"),
        labels=lambda wildcards: train_of(wildcards.run).trace,
        earlier=lambda wildcards, input: [f"--earlier={path}" for path in [input.get("earlier")] if path],
        code=steps.code_of("trace"),
    resources:
        mem_mb=megabytes(1),
        kernels=1,
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow trace {input.dataset:q} --means={input.means:q} {params.chosen:q} {params.earlier:q} {params.options:q}"
        " --labels={params.labels:q} --output={output:q} > {log:q} 2>&1"


rule measure_pruning:
    input:
        dataset=paths.DATASET,
        model=paths.MODEL,
    output:
        report(
            paths.PRUNE_CURVE,
            caption="../report/pruning.rst",
            category="{dataset}",
            subcategory="{run}",
            labels={"file": "quality and size by prune threshold"},
        ),
    log:
        "logs/{dataset}/{run}/prune-curve.log",
    benchmark:
        "logs/{dataset}/{run}/prune-curve.tsv"
    params:
        options=settings_of("prune-curve"),
        thresholds=[f"--threshold={threshold}" for threshold in SETTINGS.report.prune_thresholds],
        code=steps.code_of("prune-curve"),
    threads: threads_of_run
    resources:
        mem_mb=megabytes(1.4),
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow prune-curve {input.model:q} --dataset={input.dataset:q} {params.thresholds:q} {params.options:q}"
        " --threads={threads} --output={output:q} > {log:q} 2>&1"
