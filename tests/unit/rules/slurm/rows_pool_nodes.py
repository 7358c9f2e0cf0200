"""Mistakes in the NodeName line of a pool's nodes."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

POOL: DataPath = ("aws", "pools", 0)
SLURM: DataPath = (*POOL, "slurm")

ROWS = [
    Row("slurm-key", "a misspelt key of nodes", {SLURM: {"Wieght": 10}}, (*SLURM, "Wieght"), '"Weight"'),
    Row("slurm-key", "a partition's key at a pool's nodes", {SLURM: {"PriorityTier": 10}}, (*SLURM, "PriorityTier"), "a partition's settings"),
    Row("slurm-key", "a node's key in slurm.conf", {("scheduler", "overrides"): {"slurm_conf": {"MemSpecLimit": 10}}}, ("scheduler", "overrides", "slurm_conf", "MemSpecLimit"), "aws.pools[].slurm"),
    Row("slurm-value", "a comment in a node's line", {SLURM: {"Reason": "new # nodes"}}, (*SLURM, "Reason"), "comment"),
    Row("slurm-value", "one key of nodes twice", {SLURM: {"Weight": 10, "weight": 20}}, (*SLURM, "weight"), "same key"),
    Row("protected-setting", "the state of cloud nodes", {SLURM: {"State": "UNKNOWN"}}, (*SLURM, "State"), "CLOUD"),
    Row("protected-setting", "features of nodes in their line", {SLURM: {"features": "fast"}}, (*SLURM, "features"), "features of the pool"),
    Row("protected-setting", "threads of nodes in their line", {SLURM: {"ThreadsPerCore": 1}}, (*SLURM, "ThreadsPerCore"), "threads_per_core"),
    Row("protected-setting", "other GPUs than those of the type", {SLURM: {"Gres": "gpu:h100:4"}}, (*SLURM, "Gres"), "instance type"),
    Row("pool-node-number", "memory with a unit", {SLURM: {"RealMemory": "2T"}}, (*SLURM, "RealMemory"), "whole number"),
    Row("pool-node-number", "no memory", {SLURM: {"RealMemory": None}}, (*SLURM, "RealMemory"), "whole number"),
    Row("pool-node-number", "more memory than the type has", {SLURM: {"RealMemory": 3_000_000}}, (*SLURM, "RealMemory"), "2097152 MiB"),
    Row("pool-node-number", "all cores reserved", {SLURM: {"CoreSpecCount": 96}}, (*SLURM, "CoreSpecCount"), "96 of 96"),
    Row("pool-node-number", "all memory reserved", {SLURM: {"RealMemory": 1000, "MemSpecLimit": 1000}}, (*SLURM, "MemSpecLimit"), "1000 of 1000"),
    Row("pool-weight", "cloud nodes before on-prem nodes", {SLURM: {"Weight": 1}}, (*SLURM, "Weight"), "on-prem"),
    Row("pool-weight", "Slurm's default weight", {SLURM: {"Weight": None}}, (*SLURM, "Weight"), "on-prem"),
]  # fmt: skip
