"""What ovaflow costs: the solver alone, against its peers, and as datasets grow."""
