"""Time and memory of a training, from a small sample, and the requests of its jobs."""
