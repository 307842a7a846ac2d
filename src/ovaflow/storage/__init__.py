"""Artifacts: HDF5 files written whole or not at all, that carry what made them."""
