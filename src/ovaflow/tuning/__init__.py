"""Settings chosen on held-out training instances: the blocks of features, and C."""
