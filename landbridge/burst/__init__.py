"""Powering AWS nodes up and down for Slurm.

Pure: tokens, request, errors, config. Shells: slurm (scontrol), ec2 (boto3), launch (both), shims (what Slurm runs).
Nothing here is imported at package level: the shims have to start fast.
"""
