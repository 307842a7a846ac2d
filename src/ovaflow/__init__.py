"""ovaflow: from raw text to sparse one-vs-all models with very many labels."""

__version__ = "0.1.0"
