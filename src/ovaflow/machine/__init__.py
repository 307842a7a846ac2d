"""The hardware under a job: CPUs, nodes and memory, the limits that a scheduler sets, and files
that jobs share.

Neither NumPy nor Numba is imported here: a job is pinned before it has memory on a wrong node.
"""
