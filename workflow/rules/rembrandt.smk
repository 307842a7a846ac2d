# Labels are embedded once for all runs with the same embedding settings; each run projects instances and trains a decoder.
from ovaflow.methods.rembrandt import demand as embedding_demand
from ovaflow.methods.rembrandt import files as embedding_files

RUN_OF_EMBEDDING = embedding_files.runs_by_embedding(SETTINGS)


rule embed_labels:
    input:
        dataset=paths.DATASET,
        sizes=paths.SIZES,
    output:
        embedding_files.EMBEDDING,
    log:
        "logs/{dataset}/embed.{embedding}.log",
    benchmark:
        "logs/{dataset}/embed.{embedding}.tsv"
    params:
        options=lambda wildcards: format_parameters(
            "embed", wildcards.dataset, RUN_OF_EMBEDDING[wildcards.embedding]
        ),
        revision=STEPS["embed"].revision,
    threads: lambda wildcards: get_train_settings(RUN_OF_EMBEDDING[wildcards.embedding]).threads
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt
        * embedding_demand.embedding_memory_mb(
            SETTINGS, RUN_OF_EMBEDDING[wildcards.embedding], read_shape(input), input.size_mb
        ),
        # no parameter, since it changes no result
        softmax=lambda wildcards: embedding_files.softmax_option(SETTINGS, wildcards.embedding),
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
        embedding=lambda wildcards: embedding_files.embedding_path(
            SETTINGS, wildcards.dataset, find_run(wildcards)
        ),
    output:
        embedding_files.PROJECTED,
    log:
        "logs/{dataset}/projections/{projection}.log",
    benchmark:
        "logs/{dataset}/projections/{projection}.tsv"
    params:
        options=make_settings_parameter("project"),
        revision=STEPS["project"].revision,
    threads: count_threads
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt
        * embedding_demand.projecting_memory_mb(
            SETTINGS, find_run(wildcards), read_shape(input), input.size_mb
        ),
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow project {input.dataset:q} --embedding={input.embedding:q} {params.options:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"


rule tune_decoder:
    input:
        dataset=paths.DATASET,
        sizes=paths.SIZES,
        embedding=lambda wildcards: embedding_files.embedding_path(
            SETTINGS, wildcards.dataset, find_run(wildcards)
        ),
        projected=lambda wildcards: embedding_files.projected_path(
            SETTINGS, wildcards.dataset, find_run(wildcards)
        ),
    output:
        embedding_files.DECODER,
    log:
        "logs/{dataset}/decoders/{decoder}.log",
    benchmark:
        "logs/{dataset}/decoders/{decoder}.tsv"
    params:
        options=make_settings_parameter("tune-decoder"),
        revision=STEPS["tune-decoder"].revision,
    threads: count_threads
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt
        * embedding_demand.tuning_memory_mb(
            SETTINGS, find_run(wildcards), read_shape(input), input.size_mb
        ),
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow tune-decoder {input.projected:q} --dataset={input.dataset:q} --embedding={input.embedding:q}"
        " {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule describe_embedding:
    input:
        dataset=paths.DATASET,
        embedding=lambda wildcards: embedding_files.embedding_path(
            SETTINGS, wildcards.dataset, wildcards.run
        ),
    output:
        mark_for_report(embedding_files.EMBEDDING_CURVE, "embedding", "label embedding"),
    log:
        "logs/{dataset}/{run}/describe-embedding.log",
    benchmark:
        "logs/{dataset}/{run}/describe-embedding.tsv"
    params:
        revision=STEPS["describe-embedding"].revision,
    threads: count_threads
    resources:
        mem_mb=make_memory_request(6),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow describe-embedding {input.embedding:q} --dataset={input.dataset:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"
