"""Starting points of the solver, one file each."""
