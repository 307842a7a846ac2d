"""Rows as evidence compares them: of length 1, without the bias feature."""

from ovaflow.data.normalize import normalize_rows
from ovaflow.sparse.csr import CSR, offsets


def unit_rows(X, bias_feature=-1):
    """Rows of length 1; the bias feature, the last one where there is one, is left out."""
    if bias_feature < 0:
        rows = X._replace(data=X.data.copy())
    else:
        kept = X.indices != bias_feature
        places = None if X.places is None else X.places[kept]
        indptr = offsets(kept)[X.indptr]
        rows = CSR(X.data[kept], X.indices[kept], indptr, bias_feature, places)
    normalize_rows(rows)
    return rows
