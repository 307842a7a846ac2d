"""Slow references: each algorithm written the plainest way, for tests to compare with."""
