"""What training takes, from a small sample, and what its jobs ask a scheduler for."""
