# Labels are embedded once for all runs with the same embedding settings; each run projects instances and trains a decoder.
from ovaflow.rembrandt import demand as embedding_demand
from ovaflow.rembrandt import files as embedding_files

RUNS_WITH_EMBEDDINGS = SETTINGS.runs_of("rembrandt")
RUN_OF_EMBEDDING = embedding_files.embeddings(SETTINGS)


@cache
def rembrandt_of(run):
    """Rembrandt's settings of a run."""
    return SETTINGS.section("rembrandt", run=run)


def embedding_of_run(wildcards):
    """Embedding that a run uses, possibly shared with other runs."""
    return embedding_files.embedding_of(SETTINGS, wildcards.dataset, wildcards.run)


def softmax_of_embedding(wildcards):
    """An option where a run with this embedding requires softmax; no parameter, since it changes no result."""
    runs = [run for run in map(rembrandt_of, RUNS_WITH_EMBEDDINGS) if run.decoder == "softmax"]
    names = map(embedding_files.embedding_name, runs)
    return "--for-softmax" if wildcards.embedding in names else "--for-any-decoder"


def embedding_megabytes(wildcards, input, attempt):
    run = RUN_OF_EMBEDDING[wildcards.embedding]
    shape, threads = shape_of(input), train_of(run).threads
    return attempt * embedding_demand.of_embedding(shape, input.size_mb, rembrandt_of(run), threads)


def projecting_megabytes(wildcards, input, attempt):
    return attempt * embedding_demand.of_projecting(shape_of(input), input.size_mb, rembrandt_of(wildcards.run))


def tuning_megabytes(wildcards, input, attempt):
    """Memory of a job that chooses a decoder's settings, for which the instances are projected once more."""
    settings, division = rembrandt_of(wildcards.run), number_of_shards(wildcards.dataset, wildcards.run)
    decoding = embedding_demand.of_decoding(shape_of(input), settings, division, threads_of_run(wildcards))
    return attempt * (decoding - demand.PROGRAM) + projecting_megabytes(wildcards, input, attempt)


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
        options=lambda wildcards: parameters("embed", wildcards.dataset, RUN_OF_EMBEDDING[wildcards.embedding]),
        revision=STEPS["embed"].revision,
    threads: lambda wildcards: train_of(RUN_OF_EMBEDDING[wildcards.embedding]).threads
    resources:
        mem_mb=embedding_megabytes,
        softmax=softmax_of_embedding,
        kernels=1,
    conda:
        ENVIRONMENT
    wildcard_constraints:
        embedding=one_of(RUN_OF_EMBEDDING),
    shell:
        "ovaflow embed {input.dataset:q} {params.options:q} {resources.softmax:q} --threads={threads} --output={output:q}"
        " > {log:q} 2>&1"


rule project_instances:
    input:
        dataset=paths.DATASET,
        sizes=paths.SIZES,
        embedding=embedding_of_run,
    output:
        embedding_files.PROJECTED,
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
        run=one_of(RUNS_WITH_EMBEDDINGS),
    shell:
        "ovaflow project {input.dataset:q} --embedding={input.embedding:q} {params.options:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"


rule tune_decoder:
    input:
        dataset=paths.DATASET,
        sizes=paths.SIZES,
        embedding=embedding_of_run,
        projected=embedding_files.PROJECTED,
    output:
        embedding_files.DECODER,
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
        run=one_of(RUNS_WITH_EMBEDDINGS),
    shell:
        "ovaflow tune-decoder {input.projected:q} --dataset={input.dataset:q} --embedding={input.embedding:q}"
        " {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule describe_embedding:
    input:
        dataset=paths.DATASET,
        embedding=embedding_of_run,
    output:
        report(
            embedding_files.EMBEDDING_CURVE,
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
        run=one_of(RUNS_WITH_EMBEDDINGS),
    shell:
        "ovaflow describe-embedding {input.embedding:q} --dataset={input.dataset:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"


# Profiles may name these jobs as before all methods shared their rules.
if "train_decoder" in NAMED_BY_PROFILE:

    ruleorder: train_decoder > train_shard

    use rule train_shard as train_decoder with:
        wildcard_constraints:
            run=one_of(RUNS_WITH_EMBEDDINGS),


if "join_decoder" in NAMED_BY_PROFILE:

    ruleorder: join_decoder > merge_shards

    use rule merge_shards as join_decoder with:
        wildcard_constraints:
            run=one_of(RUNS_WITH_EMBEDDINGS),
