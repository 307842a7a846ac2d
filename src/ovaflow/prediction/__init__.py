"""Top-k labels of instances."""
