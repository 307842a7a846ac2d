rule predict_labels:
    input:
        unpack(reranker_file),
        unpack(suggestions_of_run),
        dataset=paths.DATASET,
        model=paths.MODEL,
    output:
        paths.PREDICTIONS,
    log:
        "logs/{dataset}/{run}/predict.log",
    benchmark:
        "logs/{dataset}/{run}/predict.tsv"
    params:
        options=settings_of("predict"),
        reranker=reranker_option,
        suggestions=suggestion_options,
        contents=contents_of(folders_of_suggestions),
        revision=STEPS["predict"].revision,
    threads: threads_of_run
    resources:
        mem_mb=megabytes(1.4),
    conda:
        ENVIRONMENT
    # others wait for it, and not for measurements that may begin at the same time
    priority: 1
    shell:
        "ovaflow predict {input.model:q} --dataset={input.dataset:q} {params.reranker:q} {params.suggestions:q} {params.options:q}"
        " --threads={threads} --output={output:q} > {log:q} 2>&1"
