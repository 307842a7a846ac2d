# Each method divides what it trains into shards, trained in parallel, and joined into one model.


# Memory and time that shards request from a scheduler. The estimate is ancient to the shards, so that a new one trains nothing
# again. While an ancient input is being made, Snakemake does not look for other reasons to run a job. So an estimate must run
# again only when the shards do anyway: for a changed dataset. Settings are part of its name, and it has no code parameter.
# After a driver that was killed while its estimate was made it runs again, too: merging follows it, and asks for all shards.
rule estimate_training:
    input:
        unpack(chosen_C),
        dataset=paths.DATASET,
    output:
        paths.ESTIMATE,
    log:
        "logs/{dataset}/estimate.{problem}.log",
    benchmark:
        "logs/{dataset}/estimate.{problem}.tsv"
    params:
        method=lambda wildcards: method_of(run_by(wildcards)).name,
        chosen=lambda wildcards, input: options_of(chosen_C(wildcards), input),
        options=lambda wildcards: method_of(run_by(wildcards)).estimate_options(
            SETTINGS, wildcards.dataset, run_by(wildcards)
        ),
    resources:
        mem_mb=megabytes(3, base=800),
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow estimate {input.dataset:q} --method={params.method:q} {params.chosen:q} {params.options:q}"
        " --output={output:q} > {log:q} 2>&1"


rule train_shard:
    input:
        unpack(shard_files),
    output:
        paths.SHARD,
    log:
        "logs/{dataset}/{run}/train-shard.{shard}.log",
    benchmark:
        "logs/{dataset}/{run}/train-shard.{shard}.tsv"
    params:
        method=lambda wildcards: method_of(wildcards.run).name,
        files=shard_options,
        # unless a plan divides them
        division=lambda wildcards: (
            [] if method_of(wildcards.run).divided_by_plan else division_of_run(wildcards)
        ),
        options=settings_of("train-shard"),
        revision=revision_of_training,
    threads: threads_of_run
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * request_of_shard(wildcards, input).mem_mb,
        runtime=lambda wildcards, input, attempt: attempt
        * request_of_shard(wildcards, input).runtime,
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow train-shard {input.dataset:q} --method={params.method:q} {params.files:q} --shard={wildcards.shard}"
        " {params.division:q} {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule merge_shards:
    input:
        unpack(merged_files),
        dataset=paths.DATASET,
        sizes=paths.SIZES,
        shards=shards_of_run,
    output:
        model=paths.MODEL,
        statistics=paths.TRAINING,
    log:
        "logs/{dataset}/{run}/merge.log",
    benchmark:
        "logs/{dataset}/{run}/merge.tsv"
    params:
        method=lambda wildcards: method_of(wildcards.run).name,
        shards=shards_in_shell,
        files=merging_options,
        options=settings_of("merge"),
        revision=lambda wildcards: method_of(wildcards.run).revisions["merge"],
    resources:
        mem_mb=merging_megabytes,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow merge {params.shards} --method={params.method:q} --dataset={input.dataset:q} {params.files:q}"
        " {params.options:q} --output={output.model:q} --statistics={output.statistics:q} > {log:q} 2>&1"
