# Cross-validation: each run is trained without each fold of the training documents and measured on it, by the same rules, on
# the datasets results/{dataset}/fold-{fold}-of-{folds}.


rule hold_out_fold:
    input:
        dataset=paths.DATASET,
    output:
        dataset=paths.FOLD_DATASET,
        sizes=paths.FOLD_SIZES,
    log:
        f"logs/{{dataset}}/{FOLD_FOLDER}/hold-out-fold.log",
    benchmark:
        f"logs/{{dataset}}/{FOLD_FOLDER}/hold-out-fold.tsv"
    params:
        revision=STEPS["hold-out-fold"].revision,
    resources:
        mem_mb=make_memory_request(2),
    conda:
        ENVIRONMENT
    wildcard_constraints:
        fold=r"\d+",
        folds=r"\d+",
    shell:
        "ovaflow hold-out-fold {input.dataset:q} --fold={wildcards.fold} --folds={wildcards.folds} --sizes={output.sizes:q}"
        " --output={output.dataset:q} > {log:q} 2>&1"


rule join_folds:
    input:
        metrics=list_fold_metrics,
        model=paths.MODEL,
    output:
        mark_for_report(paths.FOLDS, "folds", "cross-validation"),
    log:
        "logs/{dataset}/{run}/join-folds.log",
    benchmark:
        "logs/{dataset}/{run}/join-folds.tsv"
    params:
        revision=STEPS["join-folds"].revision,
    resources:
        mem_mb=make_memory_request(0, base=400),
    conda:
        ENVIRONMENT
    wildcard_constraints:
        dataset=make_pattern(SETTINGS.datasets),
    shell:
        "ovaflow join-folds {input.metrics:q} --model={input.model:q} --output={output:q} > {log:q} 2>&1"
