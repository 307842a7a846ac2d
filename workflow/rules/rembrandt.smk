# Labels are embedded once for all runs with the same embedding settings; each run projects instances and trains a decoder.


rule embed_labels:
    input:
        dataset=paths.DATASET,
        sizes=paths.SIZES,
    output:
        paths.EMBEDDING,
    log:
        "logs/{dataset}/embed.{embedding}.log",
    benchmark:
        "logs/{dataset}/embed.{embedding}.tsv"
    params:
        options=settings_of("embed"),
        revision=STEPS["embed"].revision,
    threads: lambda wildcards: train_of(run_by(wildcards)).threads
    resources:
        mem_mb=embedding_megabytes,
        softmax=softmax_of_embedding,
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow embed {input.dataset:q} {params.options:q} {resources.softmax:q} --threads={threads} --output={output:q}"
        " > {log:q} 2>&1"


rule project_instances:
    input:
        dataset=paths.DATASET,
        sizes=paths.SIZES,
        embedding=embedding_of_run,
    output:
        paths.PROJECTED,
    log:
        "logs/{dataset}/{run}/project.log",
    benchmark:
        "logs/{dataset}/{run}/project.tsv"
    params:
        options=settings_of("project"),
        revision=STEPS["project"].revision,
    threads: threads_of_run
    resources:
        mem_mb=projecting_megabytes,
        kernels=1,
    conda:
        ENVIRONMENT
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("rembrandt")),
    shell:
        "ovaflow project {input.dataset:q} --embedding={input.embedding:q} {params.options:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"


rule tune_decoder:
    input:
        dataset=paths.DATASET,
        sizes=paths.SIZES,
        embedding=embedding_of_run,
        projected=paths.PROJECTED,
    output:
        paths.DECODER,
    log:
        "logs/{dataset}/{run}/tune-decoder.log",
    benchmark:
        "logs/{dataset}/{run}/tune-decoder.tsv"
    params:
        options=settings_of("tune-decoder"),
        revision=STEPS["tune-decoder"].revision,
    threads: threads_of_run
    resources:
        mem_mb=tuning_megabytes,
        kernels=1,
    conda:
        ENVIRONMENT
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("rembrandt")),
    shell:
        "ovaflow tune-decoder {input.projected:q} --dataset={input.dataset:q} --embedding={input.embedding:q}"
        " {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule train_decoder:
    input:
        sizes=paths.SIZES,
        projected=paths.PROJECTED,
        tuned=paths.DECODER,
    output:
        paths.SHARD,
    log:
        "logs/{dataset}/{run}/train-decoder.{shard}.log",
    benchmark:
        "logs/{dataset}/{run}/train-decoder.{shard}.tsv"
    params:
        division=division_of_run,
        revision=STEPS["train-decoder"].revision,
    threads: threads_of_run
    resources:
        mem_mb=decoding_megabytes,
        kernels=1,
    conda:
        ENVIRONMENT
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("rembrandt")),
    shell:
        "ovaflow train-decoder {input.projected:q} --tuned={input.tuned:q}"
        " --shard={wildcards.shard} {params.division:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule join_decoder:
    input:
        dataset=paths.DATASET,
        projected=paths.PROJECTED,
        tuned=paths.DECODER,
        shards=shards_of_run,
    output:
        model=paths.MODEL,
        statistics=paths.TRAINING,
    log:
        "logs/{dataset}/{run}/join-decoder.log",
    benchmark:
        "logs/{dataset}/{run}/join-decoder.tsv"
    params:
        shards=shards_in_shell,
        revision=STEPS["join-decoder"].revision,
    resources:
        mem_mb=megabytes(2),
    conda:
        ENVIRONMENT
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("rembrandt")),
    shell:
        "ovaflow join-decoder {params.shards} --projected={input.projected:q} --tuned={input.tuned:q}"
        " --dataset={input.dataset:q} --output={output.model:q} --statistics={output.statistics:q} > {log:q} 2>&1"


rule describe_embedding:
    input:
        dataset=paths.DATASET,
        embedding=embedding_of_run,
    output:
        report(
            paths.EMBEDDING_CURVE,
            caption="../report/embedding.rst",
            category="{dataset}",
            subcategory="{run}",
            labels={"file": "label embedding"},
        ),
    log:
        "logs/{dataset}/{run}/describe-embedding.log",
    benchmark:
        "logs/{dataset}/{run}/describe-embedding.tsv"
    params:
        revision=STEPS["describe-embedding"].revision,
    threads: threads_of_run
    resources:
        mem_mb=megabytes(6),
    conda:
        ENVIRONMENT
    wildcard_constraints:
        run=one_of(SETTINGS.runs_of("rembrandt")),
    shell:
        "ovaflow describe-embedding {input.embedding:q} --dataset={input.dataset:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"
