"""Pipelines: files, their plan, and the service that submits their steps as Slurm jobs."""
