# What the shards of one-vs-all runs need.


rule choose_C:
    input:
        dataset=paths.DATASET,
    output:
        mark_for_report(paths.CHOSEN_C, "choice", "choice of C", subcategory=None),
    log:
        "logs/{dataset}/choose-c.{problem}.log",
    benchmark:
        "logs/{dataset}/choose-c.{problem}.tsv"
    params:
        options=make_settings_parameter("choose-c"),
        revision=make_solving_revision("choose-c"),
    threads: 4
    resources:
        # the model of all labels, twice while it is put together
        mem_mb=make_memory_request(15),
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow choose-c {input.dataset:q} {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule plan_shards:
    input:
        unpack(find_label_tree),
        dataset=paths.DATASET,
    output:
        paths.PLAN,
    log:
        "logs/{dataset}/plans/{plan}.log",
    benchmark:
        "logs/{dataset}/plans/{plan}.tsv"
    params:
        tree=lambda wildcards, input: format_inputs(find_label_tree(wildcards), input),
        division=format_division,
        revision=STEPS["plan"].revision,
    resources:
        mem_mb=make_memory_request(0.5, base=400),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow plan {input.dataset:q} {params.tree:q} {params.division:q} --output={output:q} > {log:q} 2>&1"


rule compute_root:
    input:
        unpack(find_chosen_C),
        dataset=paths.DATASET,
    output:
        paths.ROOT,
    log:
        "logs/{dataset}/roots/{root}.log",
    benchmark:
        "logs/{dataset}/roots/{root}.tsv"
    params:
        chosen=lambda wildcards, input: format_inputs(find_chosen_C(wildcards), input),
        options=make_settings_parameter("root"),
        revision=make_solving_revision("root"),
    resources:
        mem_mb=make_memory_request(2),
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow root {input.dataset:q} {params.chosen:q} {params.options:q} --output={output:q} > {log:q} 2>&1"


rule compute_means:
    input:
        dataset=paths.DATASET,
    output:
        paths.MEANS,
    log:
        "logs/{dataset}/means.log",
    benchmark:
        "logs/{dataset}/means.tsv"
    params:
        revision=STEPS["means"].revision,
    resources:
        mem_mb=make_memory_request(1),
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow means {input.dataset:q} --output={output:q} > {log:q} 2>&1"


rule compute_label_tree:
    input:
        dataset=paths.DATASET,
    output:
        paths.LABEL_TREE,
    log:
        "logs/{dataset}/label-tree.log",
    benchmark:
        "logs/{dataset}/label-tree.tsv"
    params:
        revision=STEPS["label-tree"].revision,
    resources:
        mem_mb=make_memory_request(0.5),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow label-tree {input.dataset:q} --output={output:q} > {log:q} 2>&1"
