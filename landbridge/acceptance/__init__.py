"""Acceptance checks of nodes: the programs that run on them, readers of the output, and the thresholds."""
