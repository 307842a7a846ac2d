"""The start at w = 0: vanilla DiSMEC."""

from ovaflow.initialization.start import Start


class Zero(Start):
    """Every label starts at zero."""

    def fill(self, label, X, positives, weights):
        weights[:] = 0.0
