# From a source to dataset.h5. Downloads stay where Snakemake runs: compute nodes rarely reach the internet.
from ovaflow.data.readers.streams import matching_files, matching_paths
from ovaflow.settings.models import SEVERAL


def raw_files(wildcards):
    """Files that a dataset is made from; a module's prefix does not apply to the user's own."""
    files, several = paths.raw_files(SETTINGS, wildcards.dataset), roles_of_several(wildcards)
    for role, location in files.items():
        if role in several and not is_downloaded(location):
            files[role] = [local(part) for each in listed(location) for part in parts(each)]
        elif not is_downloaded(location):
            files[role] = local(location)
    return files


def roles_of_several(wildcards):
    """Roles that may have several files in the format of a dataset."""
    return SEVERAL.get(SETTINGS.datasets[wildcards.dataset].format, ())


def parts(location):
    """Files of a location; the location itself where none exists any more, of which require_files has warned."""
    try:
        return list(map(str, matching_paths(location)))
    except InputError:
        return [location]


def is_downloaded(path):
    """Whether this is a file that a rule fetches."""
    return str(path).startswith(f"{paths.DOWNLOADS}/")


def options_of_files(wildcards, input):
    """Files that a dataset is made from as options; of several files the pattern or the folder that the config names."""
    locations = paths.raw_files(SETTINGS, wildcards.dataset)
    options = dict(input.items())
    for role in roles_of_several(wildcards):
        if role in locations and not is_downloaded(locations[role]):
            options[role] = locations[role]
    return file_options(options)


def contents_of_folders(wildcards):
    """Names, sizes and times of what is in folders of documents, whose own times do not change with their content."""
    entry = SETTINGS.datasets[wildcards.dataset]
    locations = [entry.train, entry.test] if entry.format == "annif" else []
    contents = []
    for location in filter(None, locations):
        for part in (part for each in listed(location) for part in matching_files(each) if part.exists()):
            contents.append(f"{part} {part.stat().st_size} {part.stat().st_mtime_ns}")
    return f"{crc32(' '.join(contents).encode()):08x}"


def reading_megabytes(wildcards, input, attempt):
    """Memory of a job that reads raw files."""
    return attempt * requests.of_reading(input, input.size_mb)


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
        "../../envs/ovaflow.yaml"
    localrule: True
    shell:
        "ovaflow download --dataset={wildcards.name:q} --output={params.folder:q} > {log:q} 2>&1"


use rule download_dataset as download_arrays with:
    output:
        expand(paths.CATALOGUE, file=["X.trn.npz", "Y.trn.npz", "X.tst.npz", "Y.tst.npz"], allow_missing=True),


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
        "../../envs/ovaflow.yaml"
    localrule: True
    shell:
        "ovaflow download --url={params.url:q} --output={output:q} > {log:q} 2>&1"


rule choose_features:
    input:
        unpack(raw_files),
    output:
        report(
            paths.CHOSEN_FEATURES,
            caption="../report/choice.rst",
            category="{dataset}",
            labels={"file": "choice of features"},
        ),
    log:
        "logs/{dataset}/choose-features.log",
    benchmark:
        "logs/{dataset}/choose-features.tsv"
    params:
        files=options_of_files,
        contents=contents_of_folders,
        options=settings_of("choose-features"),
        code=code_fingerprint("choose-features"),
    threads: 4
    resources:
        mem_mb=reading_megabytes,
        kernels=1,
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        dataset=one_of(SETTINGS.datasets),
    shell:
        "ovaflow choose-features {params.files:q} {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"


rule prepare_dataset:
    input:
        unpack(raw_files),
        unpack(lambda wildcards: inputs.chosen_features(SETTINGS, wildcards.dataset)),
    output:
        paths.DATASET,
    log:
        "logs/{dataset}/prepare.log",
    benchmark:
        "logs/{dataset}/prepare.tsv"
    params:
        files=options_of_files,
        contents=contents_of_folders,
        options=settings_of("prepare"),
        code=code_fingerprint("prepare"),
    threads: 2
    resources:
        mem_mb=reading_megabytes,
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        dataset=one_of(SETTINGS.datasets),
    shell:
        "ovaflow prepare {params.files:q} {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"
