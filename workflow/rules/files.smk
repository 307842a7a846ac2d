# Files that jobs read, where they depend on the config, and their options; no rules.
import os
from zlib import crc32

from ovaflow.reading.streams import find_matching_files, find_matching_paths
from ovaflow.steps import LOSS_REVISIONS, VOCABULARY_REVISION


def choose_warm_up_options():
    """Return the options of the warm-up, those of the last one if it compiled all that the runs need."""
    options = inputs.make_warm_up_options(SETTINGS)
    marker = Path(paths.WARMED_UP)
    if marker.exists():
        before = marker.read_text(encoding="utf-8").split()
        if set(options) <= set(before):
            return before
    return options


def list_raw_files(wildcards):
    """List the files that a dataset is made from; the prefix of a module does not apply to them."""
    files = paths.find_raw_files(SETTINGS, wildcards.dataset)
    for role in find_locations(wildcards):
        found = []
        for location in as_list(files[role]):
            found += list_files(location)
        files[role] = found
    return files


def make_reading_revision(step):
    """Return a parameter of a rule: the revision of a step that reads files, and perhaps a vocabulary."""

    def find_revision(wildcards):
        revision = STEPS[step].revision
        if "vocabulary" in list_raw_files(wildcards):
            revision += VOCABULARY_REVISION
        return revision

    return find_revision


def make_solving_revision(step):
    """Return a parameter of a rule: the revision of a step that solves problems of some loss."""

    def find_revision(wildcards):
        settings = inputs.make_step_settings(step, SETTINGS, wildcards.dataset, find_run(wildcards))
        return STEPS[step].revision + LOSS_REVISIONS[settings.loss]

    return find_revision


def find_training_revision(wildcards):
    """Find the revision of the training of a shard."""
    run = find_run(wildcards)
    settings = inputs.make_step_settings("train-shard", SETTINGS, wildcards.dataset, run)
    return get_method(run).find_revision("train-shard", settings)


def find_locations(wildcards):
    """Find the files, patterns or folders that the config names, by role, except files that a rule fetches."""
    locations = paths.find_raw_files(SETTINGS, wildcards.dataset).items()
    return {
        role: location
        for role, location in locations
        if not str(location).startswith(f"{paths.DOWNLOADS}/")
    }


def list_files(location):
    """List the files of a location; the location itself if it no longer exists, of which require_files warned."""
    if is_in_storage(location):
        return [storage.s3(location)]
    try:
        return [local(str(path)) for path in find_matching_paths(location)]
    except InputError:
        return [local(location)]


def format_raw_files(wildcards, input):
    """Return the files of a dataset as options, several of them as the pattern or folder in the config."""
    locations = find_locations(wildcards)
    here = {
        role: location
        for role, location in locations.items()
        if not any(map(is_in_storage, as_list(location)))
    }
    return format_files(dict(input.items()) | here)


def make_contents_parameter(folders):
    """Return a parameter of a rule: a checksum of folders, whose times do not change with their files."""

    def compute_checksum(wildcards):
        contents = []
        for folder in folders(wildcards):
            for part in filter(Path.exists, find_matching_files(folder)):
                contents.append(f"{part} {part.stat().st_size} {part.stat().st_mtime_ns}")
        return f"{crc32(' '.join(contents).encode()):08x}"

    return compute_checksum


def list_folders(wildcards):
    """List the folders of a dataset, or patterns of these; those of Annif's corpora in any case."""
    entry = SETTINGS.datasets[wildcards.dataset]
    locations = []
    for role in ("train", "test", "dev"):
        locations += as_list(getattr(entry, role) or [])
    if entry.format == "annif":
        return locations
    return [location for location in locations if Path(location).is_dir()]


def find_chosen_C(wildcards):
    """Find the file with the chosen C, which runs of the same problem share."""
    return inputs.find_chosen_C(SETTINGS, wildcards.dataset, find_run(wildcards))


def find_label_tree(wildcards):
    """Find the label tree, for runs whose start uses it."""
    files = inputs.find_start_files(SETTINGS, wildcards.dataset, find_run(wildcards))
    return {name: path for name, path in files.items() if name == "label_tree"}


@cache
def find_estimate(dataset, run):
    """Find the estimate, which runs of the same problem and the folds of a dataset share."""
    whole = dataset.partition("/")[0]
    method = get_method(run)
    path = ""
    if method.sample:
        path = paths.ESTIMATE.format(dataset=whole, problem=method.problem(SETTINGS, whole, run))
    return {"estimate": path} if method.needs_estimate(SETTINGS, dataset, path) else {}


@cache
def find_shard_inputs(dataset, run):
    return get_method(run).inputs_of_shards(SETTINGS, dataset, run)


def find_merge_inputs(wildcards):
    return get_method(wildcards.run).inputs_of_merging(SETTINGS, wildcards.dataset, wildcards.run)


def list_shard_files(wildcards):
    """List the files that a shard is trained from."""
    run = find_run(wildcards)
    files = dict(find_shard_inputs(wildcards.dataset, run))
    for name, path in find_estimate(wildcards.dataset, run).items():
        files[name] = ancient(path)
    starts_from_file = SETTINGS.runs[run].pretrained not in SETTINGS.runs
    if IN_STORAGE and "earlier" in files and starts_from_file:
        files["earlier"] = local(files["earlier"])
    return files


def list_merge_files(wildcards):
    """List the files that merging needs besides the shards."""
    return find_estimate(wildcards.dataset, wildcards.run) | find_merge_inputs(wildcards)


# Parameters of their own, since Snakemake does not compare parameters that are made from a job's files.
def format_shard_files(wildcards, input):
    """Return the files that a shard starts from, as options."""
    files = find_shard_inputs(wildcards.dataset, find_run(wildcards))
    return format_inputs([name for name in files if name not in ("dataset", "sizes")], input)


def format_merge_files(wildcards, input):
    return format_inputs(find_merge_inputs(wildcards), input)


def make_shards_link(wildcards, output):
    """Return the link to the shards of a run, which others may share, as an option."""
    return [] if IN_STORAGE else [f"--link={Path(output.model).with_name('shards')}"]


def make_held_out_path(template):
    """Return an input of a rule: a file of the dataset whose held-out instances fit a second stage."""
    return lambda wildcards: template.format(
        dataset=paths.name_held_out_dataset(SETTINGS, **wildcards), run=wildcards.run
    )


def list_held_out_shards(wildcards):
    """List the shards that are trained without the held-out instances of a dataset."""
    return list_shards(paths.name_held_out_dataset(SETTINGS, **wildcards), wildcards.run)


def find_run_sources(wildcards):
    """Find the files of suggestions for the second stage of a run."""
    return suggestion_sources.find_sources(SETTINGS, wildcards.dataset, wildcards.run)


def find_suggestions(wildcards):
    """Find the files of suggestions as inputs of a rule."""
    return {
        "suggestions": [
            local(os.path.normpath(path)) for path in find_run_sources(wildcards).values()
        ]
    }


def format_suggestions(wildcards, input):
    """Return files of suggestions as options of a command."""
    files = find_run_sources(wildcards)
    return [
        f"--suggestions={name}={path}" for name, path in zip(files, input.get("suggestions", []))
    ]


def list_fold_metrics(wildcards):
    """List the metrics of a run on each fold of a dataset."""
    return [
        paths.METRICS.format(dataset=fold, run=wildcards.run)
        for fold in paths.name_fold_datasets(SETTINGS, wildcards.dataset)
    ]


def list_suggestion_folders(wildcards):
    return [path for path in find_run_sources(wildcards).values() if Path(path).is_dir()]


def find_reranker(wildcards):
    """Return the second stage of a run that has one."""
    has_one = paths.name_held_out_dataset(SETTINGS, **wildcards)
    return {"reranker": paths.RERANKER.format(**wildcards)} if has_one else {}


def format_reranker(wildcards, input):
    """Return the second stage as an option, so that none next to the model is used."""
    files = format_inputs(find_reranker(wildcards), input)
    return files or ["--no-rerank"]
