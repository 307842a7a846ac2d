"""The hardware under a job: CPUs, nodes and memory, what a scheduler leaves of them, and files that
jobs share.

It imports neither NumPy nor Numba: a job is pinned before there is memory to misplace.
"""
