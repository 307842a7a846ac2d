# What is computed once for all runs of a dataset.


# Compiles the kernels before the jobs that use them. No job depends on it, or new kernels would re-run them all; but it
# goes first and holds all "kernels", a resource limited by the profile, of which each of those jobs needs one.
rule warm_up:
    output:
        WARMED_UP,
    log:
        "logs/warm-up.log",
    benchmark:
        "logs/warm-up.tsv"
    params:
        options=warm_up_options(),
        code=kernel_fingerprint(),
    resources:
        mem_mb=900,
        kernels=1000,
    conda:
        ENVIRONMENT
    priority: 100
    shell:
        "ovaflow warm-up {params.options:q} > {log:q} 2>&1; echo {params.options:q} > {output:q}"


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
        mem_mb=megabytes(1),
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
        mem_mb=megabytes(0.5),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow label-tree {input.dataset:q} --output={output:q} > {log:q} 2>&1"
