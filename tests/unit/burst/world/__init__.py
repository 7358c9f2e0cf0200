"""A small world for the burst controller: Slurm, EC2 and time, in one process, with the faults that the real ones have."""
