"""The one-vs-all problem: losses, Newton with preconditioned conjugate gradient, line search,
stopping rule.
"""
