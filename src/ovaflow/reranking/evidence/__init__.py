"""What the scores of a model do not know of its candidates: a module for each kind of evidence."""
