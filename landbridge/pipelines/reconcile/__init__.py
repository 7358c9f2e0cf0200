"""Reconciliation of a run: from record, Slurm's jobs and time to the next record and actions. Pure."""
