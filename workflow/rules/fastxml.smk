# Trees are divided into shards, grown in parallel, and joined into one model.


# Ancient to the trees and not to their merging, as estimate_training is to shards of labels.
rule estimate_trees:
    input:
        dataset=paths.DATASET,
    output:
        paths.ESTIMATE.replace("problem", "forest"),
    log:
        "logs/{dataset}/estimate.{forest}.log",
    benchmark:
        "logs/{dataset}/estimate.{forest}.tsv"
    params:
        options=lambda wildcards: FORESTS[wildcards.forest],
    resources:
        mem_mb=megabytes(3, base=800),
        kernels=1,
    conda:
        ENVIRONMENT
    wildcard_constraints:
        forest=one_of(FORESTS),
    shell:
        "ovaflow estimate {input.dataset:q} --method=fastxml {params.options:q} --output={output:q} > {log:q} 2>&1"


rule train_trees:
    input:
        dataset=paths.DATASET,
        estimate=lambda wildcards: ancient(estimate_of_trees(wildcards)),
    output:
        paths.SHARD,
    log:
        "logs/{dataset}/{run}/train-trees.{shard}.log",
    benchmark:
        "logs/{dataset}/{run}/train-trees.{shard}.tsv"
    params:
        division=division_of_run,
        options=settings_of("train-trees"),
        revision=STEPS["train-trees"].revision,
    threads: threads_of_run
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * request_of_trees(wildcards, input).mem_mb,
        runtime=lambda wildcards, input, attempt: attempt * request_of_trees(wildcards, input).runtime,
        kernels=1,
    conda:
        ENVIRONMENT
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("fastxml")),
    shell:
        "ovaflow train-trees {input.dataset:q} --shard={wildcards.shard}"
        " {params.division:q} {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule merge_trees:
    input:
        dataset=paths.DATASET,
        estimate=estimate_of_trees,
        shards=shards_of_run,
    output:
        model=paths.MODEL,
        statistics=paths.TRAINING,
    log:
        "logs/{dataset}/{run}/merge-trees.log",
    benchmark:
        "logs/{dataset}/{run}/merge-trees.tsv"
    params:
        shards=shards_in_shell,
        revision=STEPS["merge-trees"].revision,
    resources:
        mem_mb=megabytes(2),
    conda:
        ENVIRONMENT
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("fastxml")),
    shell:
        "ovaflow merge-trees {params.shards} --dataset={input.dataset:q}"
        " --output={output.model:q} --statistics={output.statistics:q} > {log:q} 2>&1"


rule measure_trees:
    input:
        dataset=paths.DATASET,
        model=paths.MODEL,
    output:
        report(
            paths.TREE_CURVE,
            caption="../report/trees.rst",
            category="{dataset}",
            subcategory="{run}",
            labels={"file": "quality by number of trees"},
        ),
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
