"""The model as an HTTP service with a page for people."""
