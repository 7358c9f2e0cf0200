"""Slurm clusters that run already: reader of their files, findings, and the files that add bursting to them. Pure."""
