"""Health checks of a GPU node, which drain it in Slurm and resume it. Python 3.9, standard library only; see README."""
