"""Jitted kernels over CSR matrices, and the one place where jit flags are set."""
