# From a source to dataset.h5.


rule download_file:
    output:
        "downloads/{dataset}/{role}/{file}",
    log:
        "logs/{dataset}/download.{role}.{file}.log",
    benchmark:
        "logs/{dataset}/download.{role}.{file}.tsv"
    params:
        address=lambda wildcards: getattr(SETTINGS.datasets[wildcards.dataset], wildcards.role),
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow download {params.address:q} --output={output:q} > {log:q} 2>&1"


rule prepare_dataset:
    input:
        unpack(lambda wildcards: steps.raw_files(SETTINGS, wildcards.dataset)),
    output:
        "results/{dataset}/dataset.h5",
    log:
        "logs/{dataset}/prepare.log",
    benchmark:
        "logs/{dataset}/prepare.tsv"
    params:
        files=lambda wildcards, input: [f"--{role}={path}" for role, path in input.items()],
        options=lambda wildcards: steps.prepare_options(SETTINGS, wildcards.dataset),
        code=steps.code_of("prepare"),
    resources:
        mem_mb=megabytes(1500, 12),
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow prepare {params.files:q} {params.options:q} --output={output:q} > {log:q} 2>&1"
