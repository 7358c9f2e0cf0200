"""Output of commands on a terminal: progress, excerpts and tables."""
