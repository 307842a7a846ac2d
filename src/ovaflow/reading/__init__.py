"""Readers of every source format: sparse features as a pair of CSR matrices, texts as a stream."""
