"""A simulated world for the burst controller: Slurm, EC2 and time in one process, with the faults of the real services."""
