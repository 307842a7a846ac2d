"""Trained and evaluated runs: their folders, and the comparison of runs of a dataset."""
