"""The dataset file, how it is prepared, and what a person should know about it."""
