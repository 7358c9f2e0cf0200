"""Readers of hardware facts: GPUs, platforms, drivers, MIG profiles, Xids and kernel settings."""
