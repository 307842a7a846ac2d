# Trees are divided into shards by their numbers, shards grown side by side, and joined into one model.


rule train_trees:
    input:
        dataset="results/{dataset}/dataset.h5",
    output:
        "results/{dataset}/{run}/shards/{shard}.h5",
    log:
        "logs/{dataset}/{run}/train-trees.{shard}.log",
    benchmark:
        "logs/{dataset}/{run}/train-trees.{shard}.tsv"
    params:
        options=lambda wildcards: steps.trees_options(SETTINGS, wildcards.dataset, wildcards.run),
        code=steps.code_of("train-trees"),
    threads: threads_of_run
    resources:
        mem_mb=growing_megabytes,
        kernels=1,
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("fastxml")),
    shell:
        "ovaflow train-trees {input.dataset:q} --shard={wildcards.shard} {params.options:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"


rule merge_trees:
    input:
        dataset="results/{dataset}/dataset.h5",
        shards=shards_of_run,
    output:
        model="results/{dataset}/{run}/model.h5",
        statistics="results/{dataset}/{run}/training.h5",
    log:
        "logs/{dataset}/{run}/merge-trees.log",
    benchmark:
        "logs/{dataset}/{run}/merge-trees.tsv"
    params:
        shards=shards_in_shell,
        code=steps.code_of("merge-trees"),
    resources:
        mem_mb=megabytes(1000, 2),
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("fastxml")),
    shell:
        "ovaflow merge-trees {params.shards} --dataset={input.dataset:q}"
        " --output={output.model:q} --statistics={output.statistics:q} > {log:q} 2>&1"


rule measure_trees:
    input:
        dataset="results/{dataset}/dataset.h5",
        model="results/{dataset}/{run}/model.h5",
    output:
        report(
            "results/{dataset}/{run}/trees.json",
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
        options=lambda wildcards: steps.evaluate_options(SETTINGS, wildcards.dataset),
        code=steps.code_of("tree-curve"),
    threads: threads_of_run
    resources:
        mem_mb=megabytes(1000, 3),
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow tree-curve {input.model:q} --dataset={input.dataset:q} {params.options:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"
