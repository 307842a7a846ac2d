"""ovaflow predict."""

import itertools
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import click
import numpy as np

from ovaflow.cli.options import (
    THREADS_OPTION,
    file_option,
    reading_options,
    second_stage_options,
    setting_option,
)
from ovaflow.cli.predicted_files import OUTPUT_FORMAT_TYPE, open_answer_output
from ovaflow.cli.questions import question_options
from ovaflow.cli.suggestions import RECORD_IDS_REMEDY, SUGGESTIONS_OPTION, open_suggestion_files
from ovaflow.cli.sure import Division, divide_records, division_options, report_division
from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.dataset.dataset import open_dataset
from ovaflow.machine.limits import read_memory_left
from ovaflow.prediction.answer_files import AnsweredRecord
from ovaflow.prediction.familiarity import WordCount, remark_on_languages, remark_on_words
from ovaflow.prediction.predictions import predict_test_set, require_second_stage
from ovaflow.prediction.predictor import (
    FeaturesAndFamiliarity,
    Predictor,
    count_texts_without_words,
    remark_on_memory,
)
from ovaflow.prediction.question import Question, RankedLabels, make_answers
from ovaflow.prediction.sources import (
    BATCH_SIZE,
    READ_FORMATS,
    RecordBatch,
    make_input_file,
    read_record_batches,
    remark_on_columns,
)
from ovaflow.reading.feature_columns import COLUMN_KINDS
from ovaflow.reading.streams import clean_text
from ovaflow.reranking.macro_f1 import choose_labels_for_macro_f1
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.settings.predict import Predict
from ovaflow.settings.source import FOR_COLUMNS


@click.command("predict")
@click.argument("inputs", nargs=-1, metavar="[MODEL] [FILE]...")
@file_option("--model", help="The model file, model.h5, unless it is the first argument.")
@click.option("--text", "texts", multiple=True, help="A text; repeatable.")
@reading_options(
    (
        *("text_column", *(kind.setting for kind in COLUMN_KINDS), "id_column"),
        *("missing", "encoding", "quotes", "sheet", "repeated"),
    ),
    format=click.option(
        "--format",
        type=click.Choice(READ_FORMATS),
        help="Format of the files; by default as the model's data.",
    ),
    first_feature=click.option(
        "--first-feature",
        type=click.IntRange(0, 1),
        help="First feature's number in svmlight; by default as in the model's data.",
    ),
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Column of the files to write into csv or tsv; repeatable.",
)
@file_option("--dataset", help="Predict the test instances of this dataset.h5 instead.")
@question_options()
@setting_option(Predict, "optimise")
@division_options
@second_stage_options
@SUGGESTIONS_OPTION
@THREADS_OPTION
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="File to write, or folder of annif; of a dataset a .h5 file holds all arrays, for ovaflow evaluate.  "
    "[default: standard output]",
)
@click.option(
    "--output-format",
    type=OUTPUT_FORMAT_TYPE,
    help="Format of the output; by default by its name or place.",
)
@click.option(
    "--joined",
    metavar="MARK",
    help="csv or tsv with one row per record, its labels joined by this, such as ' | '.",
)
@click.option(
    "--marc-source",
    help="Vocabulary in marcxml, 650 $2, such as yso/fin; by default its file's name.",
)
def predict_command(
    inputs,
    model,
    texts,
    reading,
    dataset,
    question,
    optimise,
    division,
    reranker,
    rerank,
    suggestions,
    threads,
    output,
    **options,
) -> None:
    """Find the best labels of texts, of files of texts or features, or of a dataset's test
    instances.

    A FILE, or a pattern of several in quotes, is read as the data of the model were where its name
    ends alike, else as its name says, or holds one text per line; a folder holds Annif's documents;
    - is standard input. Files are read and answered batch by batch; the predictions of a dataset,
    and all with --optimise, are kept in memory first, with --sure the unsure records.
    """
    if model is None:
        if not inputs:
            raise click.UsageError("missing MODEL")
        model, *inputs = inputs
    predictor = open_predictor(model, reranker, rerank)
    files = open_suggestion_files(predictor.model, suggestions)
    if dataset is not None and (inputs or texts):
        raise click.UsageError("--dataset takes no FILE and no --text")
    if dataset is not None and output is not None and output.suffix == ".h5":
        only_lines = (
            options["joined"] or options["keep"] or options["marc_source"] or division != Division()
        )
        if only_lines or question != Question(top_k=question.top_k):
            message = "predictions.h5 takes only --top-k, --suggestions and --threads; name a .csv or .jsonl file"
            raise click.UsageError(message)
        _predict_dataset(
            predictor.model, dataset, files, reranker, question.top_k, optimise, threads, output
        )
        return
    if not (inputs or texts or dataset is not None):
        raise click.UsageError(
            "nothing to predict: give --text, a file, - for standard input, or --dataset"
        )
    question = _asked(question, optimise, division, predictor.model, output)
    if question.language is not None:
        predictor = predictor.in_language(question.language)
    sources = [
        make_input_file(predictor.model, path, options["keep"], **reading) for path in inputs
    ]
    _check_kept(options["keep"], sources, texts, dataset)
    titled = bool(sources) or dataset is not None or len(texts) > 1
    sinks = partial(
        open_answer_output, predictor, titled=titled, divides=division.sure is not None, **options
    )
    plain = texts or any(
        source.kind.holds_texts and not source.kind.has_columns for source in sources
    )
    if plain and (remark := remark_on_columns(predictor.model)):
        click.echo(f"ovaflow: {remark}", err=True)
    quiet = not inputs or (output is None and sys.stdout.isatty())
    with Progress("predicting", 0, "instances", quiet=quiet) as progress:
        records = _Records(predictor, _batches(predictor, texts, sources, dataset), files, progress)
        asking = _macro_f1 if optimise else _each
        _write(asking(records, question, threads), records, division, sinks, output)
    records.remark_on_unknown()


def _asked(question, optimise, division, model, output):
    """Return what is asked of the model, where options go together; records are divided by the
    labels that fit.
    """
    if optimise:
        require_second_stage(model)
        if question.fit or question.most_specific:
            raise click.UsageError("--optimise excludes --fit and --most-specific")
    division.require_sense(model, output, question, optimise)
    if division.sure is not None:
        question = question.model_copy(update={"fit": True})
    question.require(model)
    return question


def _write(answered, records, division, sinks, output) -> None:
    """Write batches of records and answers to one file, or divide them into sure ones and others."""
    with sinks(output) as lines:
        if division.sure is not None:
            with sinks(division.unsure) as others:
                labels, right = divide_records(answered, division.sure, lines, others)
                records.require_suggestions()
            amounts = lines.n, others.n
        else:
            for pairs in answered:
                lines.add(pairs)
            records.require_suggestions()
    for remark in lines.writer.remarks(records.n, lines.empty):
        click.echo(f"ovaflow: {remark}", err=True)
    if division.sure is not None:
        report_division(records.predictor.model, division, output, amounts, labels, right)


def _predict_dataset(model, dataset, files, reranker, top_k, optimise, threads, output) -> None:
    opened = open_dataset(dataset)
    suggestions = {part: {} for part in opened.measured}
    for part, (name, file) in itertools.product(suggestions, files.items()):
        ids = opened.ids(part)
        suggestions[part][name] = suggested = file.find_suggestions(ids)
        if part == "test":
            file.require_common_texts(suggested, ids, RECORD_IDS_REMEDY)
        click.echo(f"{file.path}: for {suggested.known.sum():,} of {len(ids):,} {part} instances")
    if optimise and not model.probabilistic:
        click.echo("the second stage is not used: the order is that of scores, not for macro-F1")
    predictions = predict_test_set(model, opened, top_k, threads, suggestions, optimise)
    if reranker is not None:
        # also one that is not used, so that the report tells why
        predictions.inputs["reranker"] = Reranker.open_header(reranker).checksum
    predictions.write(output)
    n = len(predictions.ids)
    each = 1000 * predictions.core_seconds / max(n, 1)
    click.echo(
        f"{output}: top {top_k} of {n:,} instances in {predictions.seconds:.1f} s, {each:.2f} core-ms each"
    )


def _check_kept(keep, sources, texts, dataset) -> None:
    has_columns = all(source.kind.has_columns for source in sources)
    if keep and (texts or dataset or not has_columns):
        raise click.UsageError(f"--keep goes with files of {FOR_COLUMNS.words}, which have columns")


class _Records:
    """Records batch by batch with their features and what files suggest for them; and what is to be
    said of them.
    """

    def __init__(self, predictor, batches, files, progress) -> None:
        self.predictor = predictor
        self._batches = batches
        self._files = files
        self._progress = progress
        self._known = dict.fromkeys(files, 0)
        self._unknown = 0
        self._word_count = WordCount()
        self._languages = Counter()

    @property
    def n(self):
        return self._progress.done

    def __iter__(self):
        for batch in self._batches:
            if batch.texts is not None:
                self._unknown += count_texts_without_words(self.predictor, batch.read.X)
            if (familiarity := batch.read.familiarity) is not None:
                self._word_count = WordCount.sum([self._word_count, familiarity.word_count])
                self._languages.update(familiarity.languages)
            first = self.n + 1
            ids = _ids(batch.names, first)
            suggestions = {name: file.find_suggestions(ids) for name, file in self._files.items()}
            for name, each in suggestions.items():
                self._known[name] += int(each.known.sum())
            yield _records(batch, first), batch.read, suggestions
            self._progress.advance(len(batch.names))

    def remark_on_unknown(self) -> None:
        """Say how many texts, words and languages of texts the model does not know."""
        if self._unknown:
            fits = "is by their other columns alone" if self.predictor.columns else "fits any text"
            remark = f"have no word that the model knows: what is predicted {fits}"
            click.echo(f"ovaflow: {self._unknown:,} of {self.n:,} texts {remark}", err=True)
        usual = self.predictor.usual
        for remark in (
            remark_on_words(self.n, self._word_count.unknown_share, usual.unknown_share),
            remark_on_languages(self.n, self._languages, usual.languages),
        ):
            if remark:
                click.echo(f"ovaflow: {remark}", err=True)

    def require_suggestions(self) -> None:
        """Refuse files that suggest nothing for any instance; say for how many the others do."""
        for name, file in self._files.items():
            if not self._known[name]:
                remedy = "give the ids of the instances, as the output has them; see --id-column"
                message = f"none of its {file.n_texts:,} ids is that of an instance"
                raise InputError(message, path=file.path, remedy=remedy)
            if self._known[name] < self.n:
                amount = f"{self._known[name]:,} of {self.n:,} instances"
                click.echo(f"ovaflow: {file.path} suggests labels for {amount}", err=True)


def _each(records, question, threads):
    """Batches of records with their answers."""
    for batch, read, suggestions in records:
        yield zip(
            batch, records.predictor.answer(read, question, threads, suggestions), strict=True
        )


def _macro_f1(records, question, threads):
    """All records with their answers, chosen together."""
    everybody = []
    ranked = []
    for batch, read, suggestions in records:
        everybody += batch
        ranked.append(records.predictor.rank(read, question, threads, suggestions))
    if everybody:
        ids, probabilities = (
            np.concatenate([getattr(each, name) for each in ranked]) for name in ("ids", "scores")
        )
        about = [fields for each in ranked for fields in each.fields]
        together = RankedLabels(ids, probabilities, ranked[0].missed, about)
        chosen = choose_labels_for_macro_f1(ids, probabilities, question.top_k)
        yield zip(
            everybody, make_answers(records.predictor, question, together, chosen), strict=True
        )


def _records(batch, first):
    texts = batch.texts or [None] * len(batch.names)
    return list(map(AnsweredRecord, itertools.count(first), batch.names, texts, batch.kept))


def _ids(names, first):
    """What instances are called in files of suggestions: as in the output, by name or by number."""
    return [
        clean_text(str(number if name is None else name))
        for number, name in enumerate(names, first)
    ]


def _batches(predictor, texts, sources, dataset):
    if dataset is not None:
        yield from _test_instances(predictor, open_dataset(dataset))
    if texts:
        n = len(texts)
        yield RecordBatch(predictor.read_texts(texts), [None] * n, list(texts), [()] * n)
    for source in sources:
        yield from read_record_batches(source, predictor)


def _test_instances(predictor, dataset):
    """The test instances of a dataset, by their ids."""
    predictor.model.require(dataset=dataset)
    ids = dataset.ids("test")
    X = predictor.from_split(dataset.test)
    for low in range(0, X.n_rows, BATCH_SIZE):
        high = min(low + BATCH_SIZE, X.n_rows)
        read = FeaturesAndFamiliarity(X.part(low, high))
        yield RecordBatch(read, ids[low:high], None, [()] * (high - low))


def open_predictor(path, reranker=None, rerank=True):
    """Open a model, with a remark if the memory is too small for it."""
    predictor = Predictor.open(path, reranker, rerank=rerank)
    if remark := remark_on_memory(predictor, read_memory_left()):
        click.echo(f"ovaflow: {remark}", err=True)
    return predictor
