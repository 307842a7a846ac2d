"""Other trainers, one file per package, with one interface; none is needed to use ovaflow."""
