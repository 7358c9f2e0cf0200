"""The acceptance ladder: what is run on nodes, how its output is read, and what it has to reach."""
