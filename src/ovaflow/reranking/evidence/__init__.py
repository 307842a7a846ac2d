"""Evidence about candidates that their scores lack: a module for each kind.

To add a kind of evidence:

1. Write a subclass of :class:`~ovaflow.reranking.evidence.kind.Evidence` in a module of its own.
   ``tests/contracts/name_letters.py`` is an example of two columns. The class has a ``name``,
   ``column_names``, ``fit``, which takes from training texts what is stored as fields of the class,
   and ``compute``, which gives an array for each column. No other kind may have a column or a field
   of the same name. Further methods, if it needs them, are ``look_up``, ``suggest_candidates``,
   ``make_features``, and ``give_reasons`` with a ``wording``, which explain it to people. Assign
   class attributes such as ``optional`` without a type: those with one are stored as fields. Make a
   kind optional unless it is known to improve every kind of data and costs no time: it is then kept
   only where held-out texts gain. ``first_words.py`` is a model of a kind that reads the places of
   words, and ``name_pieces.py`` of one that has features of its own.
2. Add the class to the end of ``KINDS`` in :mod:`ovaflow.reranking.evidence.kinds`: the order of
   the list is that of the columns.
3. Describe it in the tables of ``docs/second-stage.md`` and, if it has a wording, of
   ``docs/prediction.md``, which ``tests/contracts/test_evidence_kinds.py`` checks, and its fields
   in ``docs/file-formats.md``.
4. Raise the revision of ``rerank`` in :mod:`ovaflow.steps`, and of a kind that is not optional also
   that of ``doubts``. Then record the results, as CONTRIBUTING.md says.
5. Compare the columns with an outside oracle, those of a kind that is not optional in
   ``tests/reranking/test_evidence.py``, which lists all of them.

Second stages that were fitted with other columns are refused from then on, with the advice to fit
them again.
"""
