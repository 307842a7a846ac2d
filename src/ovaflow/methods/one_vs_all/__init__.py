"""One-vs-all: an independent binary problem for each label."""
