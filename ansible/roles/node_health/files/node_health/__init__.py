"""Checks a GPU node and takes it out of Slurm's service, and back. Python 3.9 and nothing else; see the role's README."""
