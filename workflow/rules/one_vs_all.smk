# Labels are divided into shards, trained in parallel, and joined into one model.


rule choose_C:
    input:
        dataset=paths.DATASET,
    output:
        report(
            paths.CHOSEN_C,
            caption="../report/choice.rst",
            category="{dataset}",
            labels={"file": "choice of C"},
        ),
    log:
        "logs/{dataset}/choose-c.{problem}.log",
    benchmark:
        "logs/{dataset}/choose-c.{problem}.tsv"
    params:
        options=settings_of("choose-c"),
        revision=STEPS["choose-c"].revision,
    threads: 4
    resources:
        mem_mb=megabytes(5),
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow choose-c {input.dataset:q} {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule plan_shards:
    input:
        unpack(tree_file),
        dataset=paths.DATASET,
    output:
        paths.PLAN,
    log:
        "logs/{dataset}/{run}/plan.log",
    benchmark:
        "logs/{dataset}/{run}/plan.tsv"
    params:
        tree=lambda wildcards, input: options_of(tree_file(wildcards), input),
        division=division_of_run,
        revision=STEPS["plan"].revision,
    resources:
        mem_mb=megabytes(0.5, base=400),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow plan {input.dataset:q} {params.tree:q} {params.division:q} --output={output:q} > {log:q} 2>&1"


rule compute_root:
    input:
        unpack(chosen_C),
        dataset=paths.DATASET,
    output:
        paths.ROOT,
    log:
        "logs/{dataset}/{run}/root.log",
    benchmark:
        "logs/{dataset}/{run}/root.tsv"
    params:
        chosen=lambda wildcards, input: options_of(chosen_C(wildcards), input),
        options=settings_of("root"),
        revision=STEPS["root"].revision,
    resources:
        mem_mb=megabytes(2),
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow root {input.dataset:q} {params.chosen:q} {params.options:q} --output={output:q} > {log:q} 2>&1"


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
        chosen=lambda wildcards, input: options_of(chosen_C(wildcards), input),
        options=settings_of("estimate"),
        stored=lambda wildcards: train_of(run_by(wildcards)).stored_threshold,
    resources:
        mem_mb=megabytes(3, base=800),
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow estimate {input.dataset:q} {params.chosen:q} {params.options:q} --prune={params.stored:q} --labels=200"
        " --output={output:q} > {log:q} 2>&1"


rule train_shard:
    input:
        unpack(shard_files),
        dataset=paths.DATASET,
        means=paths.MEANS,
        plan=paths.PLAN,
    output:
        paths.SHARD,
    log:
        "logs/{dataset}/{run}/train-shard.{shard}.log",
    benchmark:
        "logs/{dataset}/{run}/train-shard.{shard}.tsv"
    params:
        starts=shard_starts,
        options=settings_of("train-shard"),
        revision=STEPS["train-shard"].revision,
    threads: threads_of_run
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * request_of_shard(wildcards, input).mem_mb,
        runtime=lambda wildcards, input, attempt: attempt * request_of_shard(wildcards, input).runtime,
        kernels=1,
    conda:
        ENVIRONMENT
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("one-vs-all")),
    shell:
        "ovaflow train-shard {input.dataset:q} --means={input.means:q}"
        " --plan={input.plan:q} --shard={wildcards.shard} {params.starts:q} {params.options:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"


rule merge_shards:
    input:
        unpack(estimate_of_run),
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
        shards=shards_in_shell,
        options=settings_of("merge"),
        revision=STEPS["merge"].revision,
    resources:
        mem_mb=merging_megabytes,
    conda:
        ENVIRONMENT
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("one-vs-all")),
    shell:
        "ovaflow merge {params.shards} --dataset={input.dataset:q} {params.options:q}"
        " --output={output.model:q} --statistics={output.statistics:q} > {log:q} 2>&1"
