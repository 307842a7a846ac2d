rule predict_labels:
    input:
        unpack(find_reranker),
        unpack(find_suggestions),
        dataset=paths.DATASET,
        model=paths.MODEL,
    output:
        paths.PREDICTIONS,
    log:
        "logs/{dataset}/{run}/predict.log",
    benchmark:
        "logs/{dataset}/{run}/predict.tsv"
    params:
        options=make_settings_parameter("predict"),
        reranker=format_reranker,
        suggestions=format_suggestions,
        contents=make_contents_parameter(list_suggestion_folders),
        revision=STEPS["predict"].revision,
    threads: count_threads
    resources:
        mem_mb=make_memory_request(1.4),
    conda:
        ENVIRONMENT
    # others wait for it, and not for measurements that may begin at the same time
    priority: 1
    shell:
        "ovaflow predict {input.model:q} --dataset={input.dataset:q} {params.reranker:q} {params.suggestions:q} {params.options:q}"
        " --threads={threads} --output={output:q} > {log:q} 2>&1"
