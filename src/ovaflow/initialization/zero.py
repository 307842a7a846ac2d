"""The start at w = 0: vanilla DiSMEC."""


class Zero:
    """Every label starts at zero."""

    def fill(self, label, X, positives, weights):
        """Write the start of a label into ``weights``.

        Parameters
        ----------
        label : int
        X : CSR, shape (n, d)
        positives : ndarray of int32, shape (n_positives,)
        weights : ndarray of float32, shape (d,)
        """
        weights[:] = 0.0
