"""What is computed once per dataset for all runs: means and the label tree."""
