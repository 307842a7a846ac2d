# What is computed once for all runs of a dataset.


rule warm_up:
    output:
        touch("results/.warm-up"),
    log:
        "logs/warm-up.log",
    benchmark:
        "logs/warm-up.tsv"
    params:
        code=steps.code_of("warm-up"),
    resources:
        mem_mb=1500,
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow warm-up > {log:q} 2>&1"


rule compute_means:
    input:
        dataset="results/{dataset}/dataset.h5",
        kernels=ancient("results/.warm-up"),
    output:
        "results/{dataset}/means.h5",
    log:
        "logs/{dataset}/means.log",
    benchmark:
        "logs/{dataset}/means.tsv"
    params:
        code=steps.code_of("means"),
    resources:
        mem_mb=megabytes(1000, 2),
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow means {input.dataset:q} --output={output:q} > {log:q} 2>&1"


rule compute_label_tree:
    input:
        dataset="results/{dataset}/dataset.h5",
    output:
        "results/{dataset}/label_tree.h5",
    log:
        "logs/{dataset}/label-tree.log",
    benchmark:
        "logs/{dataset}/label-tree.tsv"
    params:
        code=steps.code_of("label-tree"),
    resources:
        mem_mb=megabytes(1000, 3),
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow label-tree {input.dataset:q} --output={output:q} > {log:q} 2>&1"
