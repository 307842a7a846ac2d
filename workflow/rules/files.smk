# Files that jobs read, where they depend on the config, and their options; no rules.
import os
from zlib import crc32

from ovaflow.reading.streams import find_matching_files, find_matching_paths
from ovaflow.steps import LOSS_REVISIONS, VOCABULARY_REVISION


def warm_up_options():
    """Options of the warm-up; as before where that has compiled all that the runs need, since runs may be left out."""
    options = inputs.make_warm_up_options(SETTINGS)
    marker = Path(paths.WARMED_UP)
    if marker.exists():
        before = marker.read_text(encoding="utf-8").split()
        if set(options) <= set(before):
            return before
    return options


def raw_files(wildcards):
    """Files that a dataset is made from; a module's prefix does not apply to the user's own."""
    files = paths.find_raw_files(SETTINGS, wildcards.dataset)
    for role in locations_of(wildcards):
        files[role] = [part for each in as_list(files[role]) for part in parts(each)]
    return files


def revision_of_reading(step):
    """Datasets without a vocabulary are not read again when vocabularies come to be read in another way."""
    return lambda wildcards: STEPS[step].revision + VOCABULARY_REVISION * (
        "vocabulary" in raw_files(wildcards)
    )


def revision_of_solving(step):
    """Problems of one loss are not solved again when the solver comes to find other solutions with another loss."""
    return lambda wildcards: STEPS[step].revision + LOSS_REVISIONS[
        inputs.make_step_settings(step, SETTINGS, wildcards.dataset, run_by(wildcards)).loss
    ]


def revision_of_training(wildcards):
    settings = inputs.make_step_settings(
        "train-shard", SETTINGS, wildcards.dataset, wildcards.run
    )
    return method_of(wildcards.run).find_revision("train-shard", settings)


def locations_of(wildcards):
    """What the config names, a pattern or a folder perhaps, by role; without files that a rule fetches."""
    locations = paths.find_raw_files(SETTINGS, wildcards.dataset).items()
    return {
        role: location
        for role, location in locations
        if not str(location).startswith(f"{paths.DOWNLOADS}/")
    }


def parts(location):
    """Files of a location; the location itself where none exists any more, of which require_files has warned."""
    if is_in_storage(location):
        return [storage.s3(location)]
    try:
        return [local(str(path)) for path in find_matching_paths(location)]
    except InputError:
        return [local(location)]


def options_of_files(wildcards, input):
    """Files that a dataset is made from as options; of several files the pattern or the folder that the config names."""
    locations = locations_of(wildcards)
    here = {
        role: location
        for role, location in locations.items()
        if not any(map(is_in_storage, as_list(location)))
    }
    return file_options(dict(input.items()) | here)


def contents_of(folders):
    """Parameter of a rule: what is in folders, whose own times do not change with the content of their files."""

    def checksum(wildcards):
        contents = []
        for folder in folders(wildcards):
            for part in filter(Path.exists, find_matching_files(folder)):
                contents.append(f"{part} {part.stat().st_size} {part.stat().st_mtime_ns}")
        return f"{crc32(' '.join(contents).encode()):08x}"

    return checksum


def folders_of_documents(wildcards):
    """Folders of Annif's corpora, or patterns of these."""
    entry = SETTINGS.datasets[wildcards.dataset]
    locations = entry.train, entry.test or [], entry.dev or []
    return (
        [folder for each in locations for folder in as_list(each)]
        if entry.format == "annif"
        else []
    )


def chosen_C(wildcards):
    """The file with the chosen C, for the run or for runs that pose the same problem."""
    return inputs.find_chosen_C(SETTINGS, wildcards.dataset, run_by(wildcards))


def tree_file(wildcards):
    """The label tree, for runs whose start uses it."""
    files = inputs.find_start_files(SETTINGS, wildcards.dataset, wildcards.run)
    return {name: path for name, path in files.items() if name == "label_tree"}


@cache
def estimates(dataset, run):
    """The estimate, by its name as an input, shared by runs that train alike and by the folds of a dataset."""
    whole, method = dataset.partition("/")[0], method_of(run)
    path = (
        paths.ESTIMATE.format(dataset=whole, problem=method.problem(SETTINGS, whole, run))
        if method.sample
        else ""
    )
    return {"estimate": path} if method.needs_estimate(SETTINGS, dataset, path) else {}


@cache
def inputs_of_shards(dataset, run):
    return method_of(run).inputs_of_shards(SETTINGS, dataset, run)


def inputs_of_merging(wildcards):
    return method_of(wildcards.run).inputs_of_merging(SETTINGS, wildcards.dataset, wildcards.run)


def shard_files(wildcards):
    """What a shard needs."""
    names = wildcards.dataset, wildcards.run
    files = inputs_of_shards(*names) | {
        name: ancient(path) for name, path in estimates(*names).items()
    }
    if (
        IN_STORAGE
        and "earlier" in files
        and SETTINGS.runs[wildcards.run].pretrained not in SETTINGS.runs
    ):
        files["earlier"] = local(files["earlier"])
    return files


def merged_files(wildcards):
    """Return the files that merging needs besides the shards."""
    return estimates(wildcards.dataset, wildcards.run) | inputs_of_merging(wildcards)


# Parameters of their own, since Snakemake does not compare parameters that are made from a job's files.
def shard_options(wildcards, input):
    """Return the files that a shard starts from, as options."""
    files = inputs_of_shards(wildcards.dataset, wildcards.run)
    return options_of([name for name in files if name not in ("dataset", "sizes")], input)


def merging_options(wildcards, input):
    return options_of(inputs_of_merging(wildcards), input)


def held_out_by(template):
    """A file of the dataset whose held-out instances a run's second stage is fitted to."""
    return lambda wildcards: template.format(
        dataset=paths.name_held_out_dataset(SETTINGS, **wildcards), run=wildcards.run
    )


def held_out_shards(wildcards):
    """Shards of what is trained without the held-out instances of a dataset."""
    return shards_of(paths.name_held_out_dataset(SETTINGS, **wildcards), wildcards.run)


def sources_of_run(wildcards):
    """Files of suggestions for the second stage of a run; none for what is trained without held-out instances."""
    return suggestion_sources.find_sources(SETTINGS, wildcards.dataset, wildcards.run)


def suggestions_of_run(wildcards):
    """The same as inputs of a rule."""
    return {
        "suggestions": [
            local(os.path.normpath(path)) for path in sources_of_run(wildcards).values()
        ]
    }


def suggestion_options(wildcards, input):
    """Return files of suggestions as options of a command."""
    files = sources_of_run(wildcards)
    return [
        f"--suggestions={name}={path}" for name, path in zip(files, input.get("suggestions", []))
    ]


def metrics_of_folds(wildcards):
    """Return the metrics of a run on each fold of a dataset."""
    return [
        paths.METRICS.format(dataset=fold, run=wildcards.run)
        for fold in paths.name_fold_datasets(SETTINGS, wildcards.dataset)
    ]


def folders_of_suggestions(wildcards):
    return [path for path in sources_of_run(wildcards).values() if Path(path).is_dir()]


def reranker_file(wildcards):
    """Return the second stage of a run that has one."""
    has_one = paths.name_held_out_dataset(SETTINGS, **wildcards)
    return {"reranker": paths.RERANKER.format(**wildcards)} if has_one else {}


def reranker_option(wildcards, input):
    """Return the second stage as an option, so that none next to the model is used."""
    files = options_of(reranker_file(wildcards), input)
    return files or ["--no-rerank"]
