# From a source to dataset.h5. Downloads stay where Snakemake runs: compute nodes rarely reach the internet.


rule download_dataset:
    output:
        expand(paths.CATALOGUE, file=["train.txt", "test.txt"], allow_missing=True),
    log:
        "logs/download/{name}.log",
    benchmark:
        "logs/download/{name}.tsv"
    params:
        folder=lambda wildcards, output: str(Path(output[0]).parent),
    conda:
        ENVIRONMENT
    localrule: True
    shell:
        "ovaflow download --dataset={wildcards.name:q} --output={params.folder:q} > {log:q} 2>&1"


use rule download_dataset as download_arrays with:
    output:
        expand(
            paths.CATALOGUE,
            file=["X.trn.npz", "Y.trn.npz", "X.tst.npz", "Y.tst.npz"],
            allow_missing=True,
        ),


rule download_file:
    output:
        paths.DOWNLOADED,
    log:
        "logs/download/{dataset}.{role}.{file}.log",
    benchmark:
        "logs/download/{dataset}.{role}.{file}.tsv"
    params:
        url=lambda wildcards: getattr(SETTINGS.datasets[wildcards.dataset], wildcards.role),
    conda:
        ENVIRONMENT
    localrule: True
    shell:
        "ovaflow download --url={params.url:q} --output={output:q} > {log:q} 2>&1"


rule choose_features:
    input:
        unpack(list_raw_files),
    output:
        mark_for_report(paths.CHOSEN_FEATURES, "choice", "choice of features", subcategory=None),
    log:
        "logs/{dataset}/choose-features.log",
    benchmark:
        "logs/{dataset}/choose-features.tsv"
    params:
        files=format_raw_files,
        contents=make_contents_parameter(list_folders),
        options=make_settings_parameter("choose-features"),
        revision=make_reading_revision("choose-features"),
    threads: 4
    resources:
        mem_mb=request_choosing_memory,
        kernels=1,
    conda:
        ENVIRONMENT
    shell:
        "ovaflow choose-features {params.files:q} {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule prepare_dataset:
    input:
        unpack(list_raw_files),
        unpack(lambda wildcards: inputs.find_chosen_features(SETTINGS, wildcards.dataset)),
    output:
        dataset=paths.DATASET,
        sizes=paths.SIZES,
        reading=paths.READING,
    log:
        "logs/{dataset}/prepare.log",
    benchmark:
        "logs/{dataset}/prepare.tsv"
    params:
        files=format_raw_files,
        contents=make_contents_parameter(list_folders),
        options=make_settings_parameter("prepare"),
        revision=make_reading_revision("prepare"),
    threads: 2
    resources:
        mem_mb=request_reading_memory,
    conda:
        ENVIRONMENT
    wildcard_constraints:
        dataset=make_pattern(SETTINGS.datasets),
    shell:
        "ovaflow prepare {params.files:q} {params.options:q} --threads={threads} --sizes={output.sizes:q}"
        " --reading={output.reading:q} --output={output.dataset:q} > {log:q} 2>&1"
