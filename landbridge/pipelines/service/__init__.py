"""Service of pipelines: the requests of owners, the journal, Slurm's commands, and the passes."""
