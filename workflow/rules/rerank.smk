# The second stage: instances are held out, the run is trained again without them (by the same rules, on the dataset
# results/{dataset}/held-out-{share}), and their candidates teach what evidence besides the scores is worth.


rule hold_out_instances:
    input:
        dataset=paths.DATASET,
    output:
        dataset=paths.HELD_OUT_DATASET,
        sizes=paths.HELD_OUT_SIZES,
        records=paths.HELD_OUT_RECORDS,
    log:
        "logs/{dataset}/held-out-{share}/hold-out.log",
    benchmark:
        "logs/{dataset}/held-out-{share}/hold-out.tsv"
    params:
        revision=STEPS["hold-out"].revision,
    resources:
        mem_mb=make_memory_request(2),
    conda:
        ENVIRONMENT
    wildcard_constraints:
        share=r"[\d.e-]+",
    shell:
        "ovaflow hold-out {input.dataset:q} --fraction={wildcards.share} --records={output.records:q}"
        " --sizes={output.sizes:q} --output={output.dataset:q} > {log:q} 2>&1"


rule choose_prune:
    input:
        dataset=make_held_out_path(paths.DATASET),
        shards=list_held_out_shards,
    output:
        mark_for_report(paths.CHOSEN_PRUNE, "pruning", "choice of the prune threshold"),
    log:
        "logs/{dataset}/{run}/choose-prune.log",
    benchmark:
        "logs/{dataset}/{run}/choose-prune.tsv"
    params:
        shards=format_shards,
        options=make_settings_parameter("choose-prune"),
        revision=STEPS["choose-prune"].revision,
    threads: count_threads
    resources:
        mem_mb=make_memory_request(2),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow choose-prune {params.shards} --dataset={input.dataset:q} {params.options:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"


rule fit_reranker:
    input:
        unpack(find_suggestions),
        model=paths.MODEL,
        dataset=paths.DATASET,
        held_out=make_held_out_path(paths.DATASET),
        held_out_model=make_held_out_path(paths.MODEL),
        predictions=make_held_out_path(paths.PREDICTIONS),
    output:
        paths.RERANKER,
    log:
        "logs/{dataset}/{run}/rerank.log",
    benchmark:
        "logs/{dataset}/{run}/rerank.tsv"
    params:
        suggestions=format_suggestions,
        contents=make_contents_parameter(list_suggestion_folders),
        revision=STEPS["rerank"].revision,
    threads: count_threads
    resources:
        mem_mb=request_reranking_memory,
    conda:
        ENVIRONMENT
    # as predict_labels
    priority: 1
    shell:
        "ovaflow rerank {input.model:q} --dataset={input.dataset:q} --held-out={input.held_out:q}"
        " --held-out-model={input.held_out_model:q} --predictions={input.predictions:q} {params.suggestions:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule measure_reliability:
    input:
        dataset=paths.DATASET,
        predictions=paths.PREDICTIONS,
        reranker=paths.RERANKER,
    output:
        mark_for_report(paths.RELIABILITY, "reliability", "probabilities of the second stage"),
    log:
        "logs/{dataset}/{run}/reliability.log",
    benchmark:
        "logs/{dataset}/{run}/reliability.tsv"
    params:
        revision=STEPS["reliability"].revision,
    resources:
        mem_mb=make_memory_request(2, base=400),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow reliability {input.predictions:q} --dataset={input.dataset:q} --reranker={input.reranker:q}"
        " --output={output:q} > {log:q} 2>&1"


rule list_doubts:
    input:
        dataset=paths.DATASET,
        held_out=make_held_out_path(paths.DATASET),
        model=make_held_out_path(paths.MODEL),
    output:
        mark_for_report(paths.DOUBTS, "doubts", "training labels to check"),
    log:
        "logs/{dataset}/{run}/doubts.log",
    benchmark:
        "logs/{dataset}/{run}/doubts.tsv"
    params:
        revision=STEPS["doubts"].revision,
    threads: count_threads
    resources:
        mem_mb=make_memory_request(3),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow doubts {input.model:q} --dataset={input.dataset:q} --held-out={input.held_out:q}"
        " --threads={threads} --output={output:q} > {log:q} 2>&1"
