"""Burst controller: launches and terminates the AWS nodes of a running cluster.

model: values. reconcile: the pure pass over observed Slurm, EC2, journal state and policy. aws, slurm, journal, config:
the adapters. daemon: the service that runs the passes. hooks: the programs that Slurm calls. operator: the operator's
commands. This module imports nothing: ResumeProgram and SuspendProgram have to start fast.
"""
