"""Environment keys of Slurm: scheduler, quality of service and bursting."""
