"""Readers of Slurm facts: versions, configuration keys, restarts and sources."""
