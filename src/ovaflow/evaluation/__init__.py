"""Ranking and propensity-scored metrics."""
