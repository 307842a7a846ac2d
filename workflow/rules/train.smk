# Labels are divided into shards, shards trained side by side, and joined into one model.


rule plan_shards:
    input:
        unpack(lambda wildcards: files.tree_file(SETTINGS, wildcards.dataset, wildcards.run)),
        dataset="results/{dataset}/dataset.h5",
    output:
        "results/{dataset}/{run}/shards.tsv",
    log:
        "logs/{dataset}/{run}/plan.log",
    benchmark:
        "logs/{dataset}/{run}/plan.tsv"
    params:
        tree=lambda wildcards, input: options_of(files.tree_file(SETTINGS, wildcards.dataset, wildcards.run), input),
        options=lambda wildcards: steps.plan_options(SETTINGS, wildcards.run),
        code=steps.code_of("plan"),
    resources:
        mem_mb=megabytes(1000, 1),
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow plan {input.dataset:q} {params.tree:q} {params.options:q} --output={output:q} > {log:q} 2>&1"


rule compute_root:
    input:
        dataset="results/{dataset}/dataset.h5",
    output:
        "results/{dataset}/{run}/root.h5",
    log:
        "logs/{dataset}/{run}/root.log",
    benchmark:
        "logs/{dataset}/{run}/root.tsv"
    params:
        options=lambda wildcards: steps.root_options(SETTINGS, wildcards.run),
        code=steps.code_of("root"),
    resources:
        mem_mb=megabytes(1000, 2),
        kernels=1,
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow root {input.dataset:q} {params.options:q} --output={output:q} > {log:q} 2>&1"


# What memory and time shards ask a cluster for. Ancient to them: another estimate trains nothing again.
# Snakemake does not look for other reasons to run a job while one that is ancient to it runs. So an estimate runs again
# only where shards do anyway: for another dataset. All settings are in its name, and code that changes leaves it alone.
rule estimate_training:
    input:
        dataset="results/{dataset}/dataset.h5",
    output:
        "results/{dataset}/estimates/{problem}.json",
    log:
        "logs/{dataset}/estimate.{problem}.log",
    benchmark:
        "logs/{dataset}/estimate.{problem}.tsv"
    params:
        options=lambda wildcards: steps.sample_options(
            SETTINGS, wildcards.dataset, problems.by_name(SETTINGS)[wildcards.problem]
        ),
    resources:
        mem_mb=training_megabytes,
        kernels=1,
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow estimate {input.dataset:q} {params.options:q} --labels=200 --threads=1 --shards=1"
        " --output={output:q} > {log:q} 2>&1"


rule train_shard:
    input:
        unpack(lambda wildcards: shard_files(wildcards.dataset, wildcards.run)),
        dataset="results/{dataset}/dataset.h5",
        means="results/{dataset}/means.h5",
        plan="results/{dataset}/{run}/shards.tsv",
    output:
        "results/{dataset}/{run}/shards/{shard}.h5",
    log:
        "logs/{dataset}/{run}/train-shard.{shard}.log",
    benchmark:
        "logs/{dataset}/{run}/train-shard.{shard}.tsv"
    params:
        starts=shard_starts,
        options=shard_settings,
        code=steps.code_of("train-shard"),
    threads: threads_of_run
    resources:
        mem_mb=shard_megabytes,
        runtime=shard_minutes,
        kernels=1,
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("one-vs-all")),
    shell:
        "ovaflow train-shard {input.dataset:q} --means={input.means:q} --plan={input.plan:q} --shard={wildcards.shard}"
        " {params.starts:q} {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


# What the neighbour's weights saved in a sweep: about 2 % of the labels are solved once more, from a cold start too.
rule measure_cold_start:
    input:
        dataset="results/{dataset}/dataset.h5",
        means="results/{dataset}/means.h5",
        earlier=lambda wildcards: chains.earlier_model(SETTINGS, wildcards.dataset, wildcards.run),
    output:
        "results/{dataset}/{run}/cold_start.json",
    log:
        "logs/{dataset}/{run}/cold-start.log",
    benchmark:
        "logs/{dataset}/{run}/cold-start.tsv"
    params:
        options=lambda wildcards: [
            *steps.cold_start_options(SETTINGS, wildcards.run),
            *steps.weighting_options(SETTINGS, wildcards.dataset, wildcards.run),
        ],
        code=steps.code_of("cold-start"),
    resources:
        mem_mb=training_megabytes,
        kernels=1,
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow cold-start {input.dataset:q} --means={input.means:q} --earlier={input.earlier:q} {params.options:q}"
        " --output={output:q} > {log:q} 2>&1"


rule merge_shards:
    input:
        dataset="results/{dataset}/dataset.h5",
        shards=shards_of_run,
    output:
        model="results/{dataset}/{run}/model.h5",
        statistics="results/{dataset}/{run}/training.h5",
    log:
        "logs/{dataset}/{run}/merge.log",
    benchmark:
        "logs/{dataset}/{run}/merge.tsv"
    params:
        shards=shards_in_shell,
        options=lambda wildcards: steps.merge_options(SETTINGS, wildcards.run),
        code=steps.code_of("merge"),
    resources:
        mem_mb=merging_megabytes,
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("one-vs-all")),
    shell:
        "ovaflow merge {params.shards} --dataset={input.dataset:q} {params.options:q}"
        " --output={output.model:q} --statistics={output.statistics:q} > {log:q} 2>&1"
