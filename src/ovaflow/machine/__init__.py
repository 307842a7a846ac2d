"""The hardware under a job: nodes, the part of it that a scheduler left us, and a place on it.

A low floor, above the console alone: it knows CPUs, memory and files, and
nothing of matrices or labels, so that every room can ask where it runs. It
imports neither NumPy nor Numba: a place is taken before there is memory to
misplace.
"""
