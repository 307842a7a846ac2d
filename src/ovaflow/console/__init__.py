"""Output for people, in the terminal or a log: one-line errors and progress."""
