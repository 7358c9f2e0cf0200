"""Slurm as the burst controller reads and changes it: scontrol, squeue, sacctmgr and the resume file."""
