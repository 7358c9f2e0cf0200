"""Idle GPUs: samples of nodes, jobs of Slurm, a pure judgement over a window, and the actions of the policy."""
