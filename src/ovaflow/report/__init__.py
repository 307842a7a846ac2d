"""The report: an HTML page of tables and figures about the runs of some datasets.

Data flow from ``gather`` (the results of runs) through a module for each section (listed in
``sections``) to ``page``. ``tables`` and ``drawing`` make tables and figures, ``wording`` formats
numbers, ``label_words`` and ``marked_text`` explain labels by words, and ``environment`` loads the
templates. Two other pages are made here: ``errors_page`` and ``model_card``. ``runs``, ``tidy`` and
``probabilities`` also serve subcommands.

Sections and remarks get a :class:`~ovaflow.report.gather.DatasetResults`. Its ``data`` summarizes
the dataset, and its ``runs`` and ``best`` are :class:`~ovaflow.results.run.Run`, which have
``metrics`` and ``measured``, the ranked labels next to the true ones.

To add a section:

1. Write a module here with a function ``show_...(results)``, which returns the content of the
   section, or None where it has nothing to show, and with
   ``SECTION = ReportSection(key, title, show_...)``.
2. Show this content, named ``it``, in a Jinja template: the argument ``template`` of the section,
   such as ``"{{ table(it.table) }}"``, or the macro of its key in templates/sections.html.j2, with
   underscores for dashes. Macros that both may use are in templates/macros.html.j2. Both also get
   ``view``, whose ``view.results`` are the results of the dataset.
3. Enter the section in :data:`ovaflow.report.sections.SECTIONS`, at its place on the page. The
   section of a method is named in ``report_sections`` of the method instead.
4. Name it in the table of docs/report.md, and test it in tests/report/test_KEY.py with the fixture
   ``runs``, the folders of two finished runs.

To add a remark to the section "What to do next":

1. Write a function ``advise_on_...(results)`` in :mod:`ovaflow.report.advice`, which returns an
   :class:`~ovaflow.report.advice.Advice`, or None where there is nothing to improve.
2. Enter it in :data:`ovaflow.report.advice.ADVICE_FUNCTIONS`. Remarks are sorted by their priority,
   such as the share of the labels that they are about.
3. Test in tests/report/test_advice.py that it is given where it applies, that its remedy can be
   followed (``require_followable``: no other test knows whether its setting exists), and, where the
   remedy is a setting, that it is not given afterwards.
"""
