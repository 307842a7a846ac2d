"""Folders of results: what a run's files say, and the runs of a dataset next to one another."""
