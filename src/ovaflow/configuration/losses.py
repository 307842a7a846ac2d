"""What a setting that is not given means under each loss."""

NEGATIVE_SCORE = {"squared-hinge": -2.0, "logistic": -3.0}
"""Mean score of the negatives that the mean-separating start aims at (MSI, sec. 4)."""
