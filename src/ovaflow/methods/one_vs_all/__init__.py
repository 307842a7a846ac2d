"""One-vs-all as a method: what it asks of the rooms that train labels, and the steps of its own."""
