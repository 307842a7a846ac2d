"""Metrics of ranked labels, their intervals, and comparisons of models."""
