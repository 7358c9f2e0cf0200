"""Slurm adapter of the burst controller: scontrol, squeue, sinfo and the resume file."""
