"""The ways to train, a folder each."""
