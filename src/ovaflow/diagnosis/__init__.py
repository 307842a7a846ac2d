"""Whether this installation on this machine can do its work: ``ovaflow doctor``."""
