"""Artifacts: HDF5 files and texts that are written whole or not at all, with checksums and what
made them.
"""
