"""ovaflow predict."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from ovaflow.cli.options import (
    THREADS_OPTION,
    file_option,
    reading_options,
    second_stage_options,
    setting_option,
)
from ovaflow.cli.predicted_files import (
    OUTPUT_FORMAT_TYPE,
    AnsweredBatch,
    AnswerLines,
    open_answer_output,
)
from ovaflow.cli.questions import question_options
from ovaflow.cli.remarks import print_reading_remarks
from ovaflow.cli.suggestions import (
    RECORD_IDS_REMEDY,
    SUGGESTIONS_OPTION,
    NamedPath,
    open_suggestion_files,
)
from ovaflow.cli.sure import Division, divide_records, division_options, report_division
from ovaflow.console.errors import InputError, StrPath
from ovaflow.console.progress import Progress
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.machine.limits import read_memory_left
from ovaflow.prediction.answer_files import AnsweredRecord
from ovaflow.prediction.familiarity import WordCount, remark_on_languages, remark_on_words
from ovaflow.prediction.predictions import Predictions, predict_test_set, require_second_stage
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
    PredictionInput,
    RecordBatch,
    make_input_file,
    read_record_batches,
    remark_on_columns,
)
from ovaflow.reading.feature_columns import COLUMN_KINDS
from ovaflow.reading.streams import clean_text
from ovaflow.reranking.macro_f1 import choose_labels_for_macro_f1
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.suggestions import SuggestionFile, Suggestions
from ovaflow.settings.predict import Predict
from ovaflow.settings.source import FOR_COLUMNS

_READING_SETTINGS = [
    "text_column",
    *[kind.setting for kind in COLUMN_KINDS],
    "id_column",
    "missing",
    "encoding",
    "quotes",
    "sheet",
    "repeated",
]
"""Settings of the reading of files that are options here."""


class _Request(NamedTuple):
    """A question to a model about many instances."""

    predictor: Predictor
    suggestion_files: Mapping[str, SuggestionFile]
    question: Question
    optimise: str | None
    division: Division
    threads: int


class _Instances(NamedTuple):
    """Origins of the instances."""

    texts: Sequence[str]
    sources: Sequence[PredictionInput]
    dataset: Path | None  # whose test instances these are

    @property
    def has_titles(self) -> bool:
        """True if the answer to each instance needs a title."""
        return bool(self.sources) or self.dataset is not None or len(self.texts) > 1


class _Destination(NamedTuple):
    """Options of the output."""

    output: Path | None
    output_format: str | None
    keep: tuple[str, ...]
    joined: str | None
    marc_source: str | None

    @property
    def needs_lines(self) -> bool:
        """True if an option belongs to formats that are written line by line."""
        return bool(self.joined or self.keep or self.marc_source)


@click.command("predict")
@click.argument("inputs", nargs=-1, metavar="[MODEL] [FILE]...")
@file_option("--model", help="The model file, model.h5, unless it is the first argument.")
@click.option("--text", "texts", multiple=True, help="A text; repeatable.")
@reading_options(
    _READING_SETTINGS,
    format=click.option(
        "--format",
        type=click.Choice(READ_FORMATS),
        help="Format of the files; by default as the model's data.",
    ),
    first_feature=click.option(
        "--first-feature",
        type=click.IntRange(0, 1),
        help="Number of the first feature in svmlight; by default as in the model's data.",
    ),
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Column of the files that is copied into csv or tsv; repeatable.",
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
    help="File to write, or for annif a folder; with --dataset a .h5 file holds all arrays, for"
    " ovaflow evaluate.  [default: standard output]",
)
@click.option(
    "--output-format",
    type=OUTPUT_FORMAT_TYPE,
    help="Format of the output; by default from its name, a table on a terminal, jsonl elsewhere.",
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
    *,
    inputs: Sequence[str],
    model: str | Path | None,
    texts: tuple[str, ...],
    reading: dict[str, Any],
    dataset: Path | None,
    question: Question,
    optimise: str | None,
    division: Division,
    reranker: Path | None,
    rerank: bool,
    suggestions: Sequence[NamedPath],
    threads: int,
    output: Path | None,
    **options: Any,
) -> None:
    """Find the best labels of texts, of files of texts or features, or of a dataset's test
    instances.

    A FILE, or a pattern of several in quotes, is read like the data of the model if its name has
    the same ending, else as its own ending says, or as one text per line. A folder holds Annif's
    documents or the parts of a table; - is standard input. Files are read and answered in batches.
    Predictions of a dataset, all with --optimise, and the unsure records of --sure are kept in
    memory until the end.
    """
    if model is None:
        if not inputs:
            raise click.UsageError("missing MODEL")
        model, *inputs = inputs
    predictor = open_predictor(model, reranker, rerank=rerank)
    files = open_suggestion_files(predictor.model, suggestions)
    destination = _Destination(output, **options)
    request = _Request(predictor, files, question, optimise, division, threads)
    if dataset is not None and (inputs or texts):
        raise click.UsageError("--dataset takes no FILE and no --text")
    _require_files(inputs, reading)
    if dataset is not None and output is not None and output.suffix == ".h5":
        _require_options_of_arrays(request, destination)
        predictions = _predict_dataset(request, dataset)
        _write_predictions(predictions, output, question.top_k, reranker)
        return
    if not (inputs or texts or dataset is not None):
        raise click.UsageError(
            "nothing to predict: give --text, a file, - for standard input, or --dataset"
        )
    request = _complete_request(request, output)
    sources = [
        make_input_file(predictor.model, path, destination.keep, **reading) for path in inputs
    ]
    instances = _Instances(texts, sources, dataset)
    _check_kept(destination, instances)
    _remark_on_columns(request.predictor, instances)
    _write_answers(request, instances, destination)


def _require_files(inputs: Sequence[str], reading: Mapping[str, Any]) -> None:
    """Refuse options of the reading of files where there are none."""
    for name, value in reading.items():
        if value is not None and not inputs:
            raise click.UsageError(f"--{name.replace('_', '-')} goes with a FILE")


def _require_options_of_arrays(request: _Request, destination: _Destination) -> None:
    """Refuse options that belong to labels line by line, where arrays are written."""
    question = request.question
    is_divided = request.division != Division()
    if destination.needs_lines or is_divided or question != Question(top_k=question.top_k):
        message = (
            "predictions.h5 takes only --top-k, --suggestions and --threads; name a .csv or"
            " .jsonl file"
        )
        raise click.UsageError(message)


def _write_answers(request: _Request, instances: _Instances, destination: _Destination) -> None:
    """Answer records batch by batch, and print remarks about them."""
    sinks = partial(
        open_answer_output,
        request.predictor,
        titled=instances.has_titles,
        divides=request.division.sure is not None,
        output_format=destination.output_format,
        keep=destination.keep,
        joined=destination.joined,
        marc_source=destination.marc_source,
    )
    output = destination.output
    quiet = not instances.sources or (output is None and sys.stdout.isatty())
    with Progress("predicting", 0, "instances", quiet=quiet) as progress:
        batches = _read_batches(request.predictor, instances)
        records = _Records(request.predictor, batches, request.suggestion_files, progress)
        answer = _answer_for_macro_f1 if request.optimise else _answer_each
        answered = answer(records, request.question, request.threads)
        _write(answered, records, request.division, sinks, output)
    records.remark_on_unknown()
    readings = [source.reading for source in instances.sources if source.reading is not None]
    print_reading_remarks([reading.counts for reading in readings])


def _remark_on_columns(predictor: Predictor, instances: _Instances) -> None:
    """Print a remark if some texts come without the columns that the model knows."""
    has_plain_texts = bool(instances.texts)
    for source in instances.sources:
        if source.kind.holds_texts and not source.kind.has_columns:
            has_plain_texts = True
    if has_plain_texts:
        remark = remark_on_columns(predictor.model)
        if remark:
            click.echo(f"ovaflow: {remark}", err=True)


def _complete_request(request: _Request, output: Path | None) -> _Request:
    """Return the request with the question to its model; refuse options that do not go together.

    Records are divided by the labels that fit.
    """
    predictor = request.predictor
    question = request.question
    division = request.division
    if request.optimise:
        require_second_stage(predictor.model)
        if question.fit or question.most_specific:
            raise click.UsageError("--optimise excludes --fit and --most-specific")
    division.require_sense(predictor.model, output, question, request.optimise)
    if division.sure is not None:
        question = question.model_copy(update={"fit": True})
    question.require(predictor.model)
    if question.language is not None:
        predictor = predictor.in_language(question.language)
    return request._replace(predictor=predictor, question=question)


def _write(
    answered: Iterable[AnsweredBatch],
    records: "_Records",
    division: Division,
    sinks: Callable[[Path | None], AbstractContextManager[AnswerLines]],
    output: Path | None,
) -> None:
    """Write records and answers to one file, or divide them into sure ones and others."""
    with sinks(output) as lines:
        if division.sure is not None:
            with sinks(division.unsure) as others:
                result = divide_records(answered, division.sure, lines, others)
                records.require_suggestions()
        else:
            for pairs in answered:
                lines.add(pairs)
            records.require_suggestions()
    for remark in lines.writer.remarks(records.n, lines.empty):
        click.echo(f"ovaflow: {remark}", err=True)
    if division.sure is not None:
        report_division(records.predictor.model, division, output, result)


def _predict_dataset(request: _Request, dataset: Path) -> Predictions:
    """Predict the measured instances of a dataset, with suggestions for them."""
    opened = open_dataset(dataset)
    model = request.predictor.model
    suggestions: dict[str, dict[str, Suggestions]] = {}
    for part in opened.measured:
        suggestions[part] = {}
        ids = opened.ids(part)
        for name, file in request.suggestion_files.items():
            suggested = file.find_suggestions(ids)
            suggestions[part][name] = suggested
            if part == "test":
                file.require_common_texts(suggested, ids, RECORD_IDS_REMEDY)
            n_known = suggested.known.sum()
            click.echo(f"{file.path}: for {n_known:,} of {len(ids):,} {part} instances")
    if request.optimise and not model.probabilistic:
        click.echo(
            "the second stage is not used: labels are ordered by score, not chosen for macro-F1"
        )
    return predict_test_set(
        model, opened, request.question.top_k, request.threads, suggestions, request.optimise
    )


def _write_predictions(
    predictions: Predictions, output: Path, top_k: int, reranker: Path | None
) -> None:
    """Write predictions.h5; print the number of instances, and the time that they took."""
    if reranker is not None:
        # also one that is not used, so that the report tells why
        predictions.inputs["reranker"] = Reranker.open_header(reranker).checksum
    predictions.write(output)
    n = len(predictions.ids)
    each = 1000 * predictions.core_seconds / max(n, 1)
    click.echo(
        f"{output}: top {top_k} of {n:,} instances in {predictions.seconds:.1f} s,"
        f" {each:.2f} core-ms each"
    )


def _check_kept(destination: _Destination, instances: _Instances) -> None:
    """Refuse columns to keep where records have none."""
    has_columns = all(source.kind.has_columns for source in instances.sources)
    if destination.keep and (instances.texts or instances.dataset or not has_columns):
        raise click.UsageError(f"--keep goes with files of {FOR_COLUMNS.words}, which have columns")


class _QuestionedBatch(NamedTuple):
    """Records of a batch, and what their labels are predicted from."""

    records: list[AnsweredRecord]
    read: FeaturesAndFamiliarity
    suggestions: dict[str, Suggestions]


class _Records:
    """Batches of records with their features and suggestions, and remarks about them."""

    def __init__(
        self,
        predictor: Predictor,
        batches: Iterator[RecordBatch],
        files: Mapping[str, SuggestionFile],
        progress: Progress,
    ) -> None:
        self.predictor = predictor
        self._batches = batches
        self._files = files
        self._progress = progress
        self._known = dict.fromkeys(files, 0)
        self._unknown = 0
        self._word_count = WordCount()
        self._languages: Counter[str] = Counter()

    @property
    def n(self) -> int:
        """Number of records that have been read."""
        return self._progress.done

    def __iter__(self) -> Iterator[_QuestionedBatch]:
        for batch in self._batches:
            if batch.texts is not None:
                self._unknown += count_texts_without_words(self.predictor, batch.read.X)
            if (familiarity := batch.read.familiarity) is not None:
                self._word_count = WordCount.sum([self._word_count, familiarity.word_count])
                known = [language for language in familiarity.languages if language is not None]
                self._languages.update(known)
            first = self.n + 1
            ids = _make_ids(batch.names, first)
            suggestions = {name: file.find_suggestions(ids) for name, file in self._files.items()}
            for name, each in suggestions.items():
                self._known[name] += int(each.known.sum())
            yield _QuestionedBatch(_make_records(batch, first), batch.read, suggestions)
            self._progress.advance(len(batch.names))

    def remark_on_unknown(self) -> None:
        """Print how many texts, words and languages of texts the model does not know."""
        if self._unknown:
            fits = (
                "come from their other columns alone"
                if self.predictor.columns
                else "would fit any text"
            )
            remark = f"have no word that the model knows: their predictions {fits}"
            click.echo(f"ovaflow: {self._unknown:,} of {self.n:,} texts {remark}", err=True)
        usual = self.predictor.usual
        for remark in (
            remark_on_words(self.n, self._word_count.unknown_share, usual.unknown_share),
            remark_on_languages(self.n, self._languages, usual.languages),
        ):
            if remark:
                click.echo(f"ovaflow: {remark}", err=True)

    def require_suggestions(self) -> None:
        """Refuse files without suggestions for any instance; print for how many the others have
        some.
        """
        for name, file in self._files.items():
            if not self._known[name]:
                remedy = "give the ids of the instances, as the output has them; see --id-column"
                message = f"none of its {file.n_texts:,} ids is that of an instance"
                raise InputError(message, path=file.path, remedy=remedy)
            if self._known[name] < self.n:
                amount = f"{self._known[name]:,} of {self.n:,} instances"
                click.echo(f"ovaflow: {file.path} suggests labels for {amount}", err=True)


def _answer_each(records: _Records, question: Question, threads: int) -> Iterator[AnsweredBatch]:
    """Answer batches of records, one after the other."""
    for batch in records:
        answers = records.predictor.answer(batch.read, question, threads, batch.suggestions)
        yield zip(batch.records, answers, strict=True)


def _answer_for_macro_f1(
    records: _Records, question: Question, threads: int
) -> Iterator[AnsweredBatch]:
    """Answer all records, whose labels are chosen together."""
    all_records: list[AnsweredRecord] = []
    ranked = []
    for batch in records:
        all_records += batch.records
        ranked.append(records.predictor.rank(batch.read, question, threads, batch.suggestions))
    if all_records:
        ids = np.concatenate([each.ids for each in ranked])
        probabilities = np.concatenate([each.scores for each in ranked])
        about: list[Any] = []
        for each in ranked:
            about += each.fields
        together = RankedLabels(ids, probabilities, ranked[0].missed, about)
        chosen = choose_labels_for_macro_f1(ids, probabilities, question.top_k)
        answers = make_answers(records.predictor, question, together, chosen)
        yield zip(all_records, answers, strict=True)


def _make_records(batch: RecordBatch, first: int) -> list[AnsweredRecord]:
    """Assign numbers to the records of a batch, from ``first`` on."""
    texts: Sequence[str | None] = batch.texts or [None] * len(batch.names)
    records = []
    for number, (name, text, kept) in enumerate(
        zip(batch.names, texts, batch.kept, strict=True), first
    ):
        records.append(AnsweredRecord(number, name, text, kept))
    return records


def _make_ids(names: Sequence[str | None], first: int) -> list[str]:
    """Return the ids of instances in files of suggestions, which are those of the output.

    An instance without a name has its number.
    """
    ids = []
    for number, name in enumerate(names, first):
        ids.append(clean_text(str(number if name is None else name)))
    return ids


def _read_batches(predictor: Predictor, instances: _Instances) -> Iterator[RecordBatch]:
    """Read all records, batch by batch."""
    if instances.dataset is not None:
        yield from _read_test_instances(predictor, open_dataset(instances.dataset))
    if instances.texts:
        texts = list(instances.texts)
        n = len(texts)
        yield RecordBatch(predictor.read_texts(texts), [None] * n, texts, [()] * n)
    for source in instances.sources:
        yield from read_record_batches(source, predictor)


def _read_test_instances(predictor: Predictor, dataset: Dataset) -> Iterator[RecordBatch]:
    """Read the test instances of a dataset, by their ids."""
    predictor.model.require(dataset=dataset)
    ids = dataset.ids("test")
    X = predictor.from_split(dataset.test)
    for low in range(0, X.n_rows, BATCH_SIZE):
        high = min(low + BATCH_SIZE, X.n_rows)
        read = FeaturesAndFamiliarity(X.part(low, high))
        names: list[str | None] = list(ids[low:high])
        yield RecordBatch(read, names, None, [()] * (high - low))


def open_predictor(
    path: StrPath, reranker: StrPath | None = None, *, rerank: bool = True
) -> Predictor:
    """Open a model, with a remark if the memory is too small for it."""
    predictor = Predictor.open(path, reranker, rerank=rerank)
    if remark := remark_on_memory(predictor, read_memory_left()):
        click.echo(f"ovaflow: {remark}", err=True)
    return predictor
