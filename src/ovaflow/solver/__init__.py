"""Solvers of one-vs-all problems, explained in docs/explanation/solver.md.

To read in this order: ``losses``, ``objective``, ``newton`` (the plain solver, which the others are
compared with), ``stopping`` (the targets), ``selection`` (which solver is used when), then the fast
paths: ``batch`` with ``screening`` and ``working_set`` for the squared hinge, ``sampled`` and
``sampled_problem`` for the logistic loss, ``coordinate_descent`` and ``working_features`` for L1.
"""
