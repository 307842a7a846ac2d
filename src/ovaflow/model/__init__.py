"""Sparse weights: pruning, merging, the model file."""
