"""Time and memory of a training, from a small sample, and what its jobs request."""
