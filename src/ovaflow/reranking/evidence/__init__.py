"""Evidence about candidates that their scores lack: a module for each kind.

To add a kind of evidence:

1. Write a subclass of :class:`~ovaflow.reranking.evidence.kind.Evidence` in a module of its own:
   its name, the names of its columns, ``fit``, which takes from training texts what is stored as
   fields of the class, and ``compute``. Optional steps are ``look_up``, ``suggest_candidates``,
   ``make_features``, and ``reasons`` with a ``wording``, which explain it to people.
   ``tests/contracts/name_letters.py`` is an example.
2. Add the class to the end of ``KINDS`` in :mod:`ovaflow.reranking.evidence.kinds`: the order of
   the list is that of the columns.
3. Describe it in the tables of ``docs/second-stage.md`` and, if it has a wording, of
   ``docs/prediction.md``; ``tests/contracts/test_evidence_kinds.py`` checks them.

Second stages that were fitted with other columns are refused from then on, with the advice to fit
them again; nothing else has to change.
"""
