"""What a person sees in the terminal or a log: one-line errors and progress."""
