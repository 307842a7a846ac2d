"""Other trainers, one file a package, behind one interface; none of them is needed to use ovaflow."""
