# Each method divides what it trains into shards, trained in parallel, and joined into one model.


# Memory and time that shards request from a scheduler. The estimate is ancient to the shards, so that a new one trains nothing
# again. While an ancient input is being made, Snakemake does not look for other reasons to run a job. So an estimate must run
# again only when the shards do anyway: for a changed dataset. Settings are part of its name, and it has no code parameter.
# After a driver that was killed while its estimate was made it runs again, too: merging follows it, and asks for all shards.
rule estimate_training:
    input:
        unpack(find_chosen_C),
        dataset=paths.DATASET,
    output:
        paths.ESTIMATE,
    log:
        "logs/{dataset}/estimate.{problem}.log",
    benchmark:
        "logs/{dataset}/estimate.{problem}.tsv"
    params:
        method=lambda wildcards: get_method(find_run(wildcards)).name,
        chosen=lambda wildcards, input: format_inputs(find_chosen_C(wildcards), input),
        options=lambda wildcards: get_method(find_run(wildcards)).estimate_options(
            SETTINGS, wildcards.dataset, find_run(wildcards)
        ),
    resources:
        mem_mb=make_memory_request(3, base=800),
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow estimate {input.dataset:q} --method={params.method:q} {params.chosen:q} {params.options:q}"
        " --output={output:q} > {log:q} 2>&1"


rule train_shard:
    input:
        unpack(list_shard_files),
    output:
        paths.SHARD,
    log:
        "logs/{dataset}/trainings/{training}/train-shard.{shard}.log",
    benchmark:
        "logs/{dataset}/trainings/{training}/train-shard.{shard}.tsv"
    params:
        method=lambda wildcards: get_method(find_run(wildcards)).name,
        files=format_shard_files,
        # unless a plan divides them
        division=lambda wildcards: (
            [] if get_method(find_run(wildcards)).divided_by_plan else format_division(wildcards)
        ),
        options=make_settings_parameter("train-shard"),
        revision=find_training_revision,
    threads: count_threads
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt
        * request_shard_resources(wildcards, input).mem_mb,
        runtime=lambda wildcards, input, attempt: attempt
        * request_shard_resources(wildcards, input).runtime,
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow train-shard {input.dataset:q} --method={params.method:q} {params.files:q} --shard={wildcards.shard}"
        " {params.division:q} {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule merge_shards:
    input:
        unpack(list_merge_files),
        dataset=paths.DATASET,
        sizes=paths.SIZES,
        shards=list_run_shards,
    output:
        model=paths.MODEL,
        statistics=paths.TRAINING,
    log:
        "logs/{dataset}/{run}/merge.log",
    benchmark:
        "logs/{dataset}/{run}/merge.tsv"
    params:
        method=lambda wildcards: get_method(wildcards.run).name,
        shards=format_shards,
        files=format_merge_files,
        options=make_settings_parameter("merge"),
        link=make_shards_link,
        revision=lambda wildcards: get_method(wildcards.run).revisions["merge"],
    resources:
        mem_mb=request_merging_memory,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow merge {params.shards} --method={params.method:q} --dataset={input.dataset:q} {params.files:q}"
        " {params.options:q} --output={output.model:q} --statistics={output.statistics:q} {params.link:q} > {log:q} 2>&1"
